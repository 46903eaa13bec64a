"""The page on which a phone has the hands of a photograph settled."""
