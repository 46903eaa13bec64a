"""The two circuit boards as a KiCad project each: circuit, drawing, places, tracks; `make boards` checks them."""
