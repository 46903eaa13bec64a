"""Whether the table answers and its screen shows what push-buttons do."""
