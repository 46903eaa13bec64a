"""The dealer's page and its stream."""
