"""Training on the dealer's page."""
