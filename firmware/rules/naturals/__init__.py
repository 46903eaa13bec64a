"""Naturals: the ten kinds that are named, and a house's own by conditions."""
