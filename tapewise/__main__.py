"""`python -m tapewise`."""

from tapewise.cli import main

main()
