"""The puck reader: protocol, serial line, tags, and the simulated one."""
