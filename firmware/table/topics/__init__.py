"""One file a topic: its events with their effects, and the commands that cause them."""
