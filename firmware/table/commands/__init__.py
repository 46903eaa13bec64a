"""The commands of buttons and pages, and the events that they cause."""
