"""Past hands for other machines, over TLS."""
