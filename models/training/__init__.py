"""Makes the training data, trains the card reader's network, evaluates and exports it."""

import vision as vision  # before anything here loads ONNX Runtime: see there
