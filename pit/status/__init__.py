"""How a table stands: is it well, and what is known of it."""
