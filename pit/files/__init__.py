"""Files for the tables (profiles, decks, releases), and which tables are asked to fetch them."""
