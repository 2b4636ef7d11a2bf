"""`python -m grove_operator` is `grove`."""

from grove_operator.cli import main

main()
