"""Stepwell beside the reference library: the same work, in one run. `python -m bench` (see README.md)."""
