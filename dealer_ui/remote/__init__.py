"""The review of past hands for other machines, over TLS."""
