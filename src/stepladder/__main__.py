"""Run the command line as `python -m stepladder`."""

from stepladder.cli import main

main()
