"""The felt: its layout, its markers in a picture, the lens, and whether a picture is good enough to read."""
