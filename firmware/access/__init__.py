"""Who may do what: roles, PINs, sessions and lock-outs."""
