"""The command line: `stepwell`. Each command is a thin face of a function in `stepwell.threads` or of a graph."""
