"""Arrays, errors and pictures: what every room of `vision` uses."""
