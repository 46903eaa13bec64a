"""Arrays, errors and pictures, shared by all of `vision`."""
