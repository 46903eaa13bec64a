"""What the pit asks this table to fetch: profiles, decks, releases."""
