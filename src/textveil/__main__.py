"""`python -m textveil`."""

from textveil.cli import main

main()
