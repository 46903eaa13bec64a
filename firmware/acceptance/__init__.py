"""The acceptance of a built table: measured step by step, resumed after a power cut, signed."""
