"""Drawn tables: the deck, the felt, the light, and the grid of conditions that judges the reader."""
