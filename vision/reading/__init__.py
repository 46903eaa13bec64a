"""From pixels to named cards: both networks, and what makes a name sure."""
