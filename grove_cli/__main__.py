"""`python -m grove_cli` is `grove`."""

from grove_cli import main

main()
