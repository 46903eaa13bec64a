"""The setup of a table on the touch screen."""
