"""The pit: every table's record, stored and verified in one place."""
