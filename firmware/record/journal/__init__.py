"""The record on disk: the hash-chained journal, its files and the images."""
