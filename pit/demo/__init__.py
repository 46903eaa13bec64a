"""The pit's demo: simulated tables, their uplinks, a pit with a real PostgreSQL, all on one machine."""
