"""The house's rules: profiles, their versions, and the house-rules page."""
