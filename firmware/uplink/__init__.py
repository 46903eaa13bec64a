"""The table's side of the pit: follows the journal and posts what is new."""
