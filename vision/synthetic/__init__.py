"""Drawn tables: the deck, the felt, the light, and the grid of conditions for evaluating the reader."""
