"""`python -m lexplain` is the command line."""

from .cli import main

main()
