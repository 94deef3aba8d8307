"""Plays a schedule again, and writes the script that does so."""

from explorer.play import Play, single_file
from explorer.scenes import SCENES, Scene


def replay(name: str, schedule: list[str]) -> Play:
    """Play a scene by a schedule, print each step, and let it come to rest; the play at its end.

    Raises:
        Broken: where something does not hold.
    """
    play = SCENES[name].open()
    with single_file():
        for number, choice in enumerate(schedule, 1):
            waiting = play.stage.options()
            actor = choice.partition(" / ")[0]
            print(f"{number:3}  {waiting[actor].operation:20} {choice}")
            play.step(choice)
        play.rest()
    return play


def script(scene: Scene, schedule: list[str], broken: Exception) -> str:
    """A Python script that plays a schedule again; it runs in the folder `tests`."""
    choices = "".join(f"        {choice!r},\n" for choice in schedule)
    findings = "".join(f"# {line}\n" for line in str(broken).splitlines())
    return (
        f"{scene.name}: something does not hold. This script plays it again:\n\n"
        f"{findings}"
        "from explorer.replay import replay\n\n"
        f"replay(\n    {scene.name!r},\n    [\n{choices}    ],\n)\n"
    )
