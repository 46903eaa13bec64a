"""Files from the pit, decided about at the table."""
