"""Languages and words: all texts of the page."""
