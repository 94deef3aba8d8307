"""Holds the pinned packages against the published advisories, and says so when none can be had."""

import json
import subprocess
import sys
from typing import Any

Dependency = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Audit requirement files: `advisories.py PIP_AUDIT FILE ...`; 1 if an advisory is open."""
    tool, *files = arguments
    dependencies: dict[str, Dependency] = {}
    for file in files:
        command = [tool, "--no-deps", "--disable-pip", "--progress-spinner", "off"]
        asked = subprocess.run(
            [*command, "--format", "json", "--requirement", file],
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            reported: list[Dependency] = json.loads(asked.stdout)["dependencies"]
        except (ValueError, KeyError):
            print(f"NOT AUDITED: pip-audit gave no report on {file}. {asked.stderr.strip()[-300:]}")
            return 1
        dependencies |= {f"{one['name']} {one.get('version')}": one for one in reported}
    sentences, failed = verdict(list(dependencies.values()))
    print(*sentences, sep="\n")
    return int(failed)


def verdict(dependencies: list[Dependency]) -> tuple[list[str], bool]:
    """What to say about a report of pip-audit, and whether an advisory is open.

    A package that could not be looked up is not audited, which is never told as a success.
    """
    audited = [dependency for dependency in dependencies if "vulns" in dependency]
    sentences = [
        f"{dependency['name']} {dependency['version']}: {found['id']}, mended in"
        f" {', '.join(found['fix_versions']) or 'no version yet'}."
        for dependency in audited
        for found in dependency["vulns"]
    ]
    failed = bool(sentences)
    missing = len(dependencies) - len(audited)
    if missing:
        sentences.append(
            f"NOT AUDITED: {missing} of {len(dependencies)} packages; no advisories could be had"
            " for them from here."
        )
    if audited and not failed:
        sentences.append(f"No advisory is open for {len(audited)} pinned packages.")
    return sentences, failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
