"""From pixels to named cards: the networks, and the rules for a sure name."""
