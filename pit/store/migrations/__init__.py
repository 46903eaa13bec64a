"""The schema of the pit's database, step by step."""
