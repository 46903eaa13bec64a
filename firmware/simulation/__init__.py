"""Simulated tables: the demo and the training."""
