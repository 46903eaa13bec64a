"""Training on the same page."""
