"""Waves: a release goes to one table, then to a share of them, then to the rest."""
