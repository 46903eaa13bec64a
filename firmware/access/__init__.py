"""Access control: roles, PINs, sessions and lock-outs."""
