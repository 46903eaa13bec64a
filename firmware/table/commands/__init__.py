"""The commands: what a button or a touch asks for, and the events that answer it."""
