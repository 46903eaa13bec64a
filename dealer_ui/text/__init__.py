"""Languages and words: everything that the page says."""
