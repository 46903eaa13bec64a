"""Past hands and disputes."""
