"""What runs on the box: the table process, its socket, its devices and its configuration."""
