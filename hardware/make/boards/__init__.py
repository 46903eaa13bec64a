"""Holds both circuit boards, a KiCad project each, against the pins of the code; `make boards` has KiCad check them."""
