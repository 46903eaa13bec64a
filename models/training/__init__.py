"""Makes the training data, trains the card reader's network, evaluates and exports it."""
