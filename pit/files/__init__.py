"""What goes down to the tables: files, and who is asked to fetch them."""
