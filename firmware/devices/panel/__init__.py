"""Buttons and lamps: contacts, pins, and the simulated panel."""
