"""`python -m nightshift_toolkit.cli`: the same as `nightshift`."""

from nightshift_toolkit.cli import main

main()
