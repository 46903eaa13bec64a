"""From the camera's picture to the cards that lie in it: codes and places, no rules and no seats."""
