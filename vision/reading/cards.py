"""The 52 cards as codes: rank then suit, as in ``"Th"`` (ten of hearts).

Vision names cards and does not know their worth. Their order here is only that of the model's classes and of lists:
suits clubs, diamonds, hearts, spades; in each suit two up to ace.
"""

RANKS = "23456789TJQKA"
SUITS = "cdhs"
CARDS: tuple[str, ...] = tuple(rank + suit for suit in SUITS for rank in RANKS)
ALIKE = {"c": "s", "s": "c", "d": "h", "h": "d"}
"""The other suit of each suit's colour."""
