"""The reading process: camera and card reader in a separate process."""
