"""The reading process: camera and card reader in a process of their own."""
