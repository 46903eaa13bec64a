"""The pit's database: connections, schema, rights, rows by month, several processes on it; files by their hash."""
