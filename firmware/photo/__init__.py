"""Hands in a photograph: from the cards' places to seats and rows, what has to be asked, and the settlement."""
