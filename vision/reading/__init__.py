"""From pixels to named cards: both networks, and the rules for a sure name."""
