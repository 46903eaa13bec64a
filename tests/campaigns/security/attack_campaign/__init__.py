"""The attack campaign: every known attack on a record, and thousands of its bits flipped."""
