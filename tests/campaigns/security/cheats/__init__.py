"""A cheat's bench: each cheat is played against the real table, and what comes of it is written down."""
