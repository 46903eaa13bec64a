"""The pit's pages for people: the floor, past hands of all tables, reports."""
