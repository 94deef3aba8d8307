"""One Markdown table and one chart of what was measured."""

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Line:
    """One measurement; `met` is None where there is no target."""

    name: str
    measured: str
    beside: str
    ratio: float | None = None
    target: str = ""
    met: bool | None = None


def where_and_when() -> str:
    """The commit and the machine."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=False)
    machine = (
        f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    )
    load = f"load {os.getloadavg()[0]:.1f}"
    return f"Commit {commit.stdout.strip()}, {datetime.now(UTC):%Y-%m-%d}, {machine}, {load}."


def markdown(lines: Sequence[Line]) -> str:
    """The table."""
    rows = ["| | measured | beside | ratio | target |", "|---|---|---|---|---|"]
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        verdict = "" if line.met is None else " met" if line.met else " **missed**"
        rows.append(
            f"| {line.name} | {line.measured} | {line.beside} | {ratio} | {line.target}{verdict} |"
        )
    return "\n".join(rows)


def chart(ours: dict[int, float], bare: dict[int, float]) -> str:
    """Launches a second by threads, both ways, as SVG."""
    top = max(*ours.values(), *bare.values())
    bars = []
    for place, threads in enumerate(ours):
        for side, (rates, colour) in enumerate(((ours, "#2b6cb0"), (bare, "#a0aec0"))):
            height = 200 * rates[threads] / top
            left = 40 + place * 80 + side * 30
            bars.append(
                f'<rect x="{left}" y="{240 - height:.0f}" width="28" height="{height:.0f}"'
                f' fill="{colour}"/>'
                f'<text x="{left + 14}" y="{234 - height:.0f}">{rates[threads]:.0f}</text>'
            )
        bars.append(f'<text x="{69 + place * 80}" y="258">{threads}</text>')
    width = 60 + 80 * len(ours)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="290"'
        ' font-family="sans-serif" font-size="11" text-anchor="middle">'
        f'<rect width="{width}" height="290" fill="white"/>'
        f"{''.join(bars)}"
        f'<text x="{width / 2:.0f}" y="278">threads; blue: Nightshift, grey: bare boto3 calls;'
        " launches a second</text></svg>\n"
    )
