"""What is derived from the rows: the list of hands, what each table does now, totals, searches."""
