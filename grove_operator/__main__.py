"""`python -m grove_operator` is `grove`, whose command `operator run` is what containers start."""

from grove_cli import main

main()
