"""What the page shows, as plain data: the state of the table as a `Screen`."""
