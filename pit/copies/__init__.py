"""Copies of the pit's database elsewhere: on a second disk, and without names at a head office."""
