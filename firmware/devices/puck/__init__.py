"""The puck reader: protocol, serial line, tags, and simulation."""
