"""Pins and felt: the one source of each, as data (TOML)."""
