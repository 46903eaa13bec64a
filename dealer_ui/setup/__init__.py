"""Setting a table up by touch."""
