"""Whether the table answers, and whether its screen shows what a press of a push-button would do."""
