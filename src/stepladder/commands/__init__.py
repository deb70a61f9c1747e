"""One module per command of the command line; each holds its options and a thin `run`."""
