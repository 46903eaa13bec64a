"""The application: its factory, its server, health and the interface description."""
