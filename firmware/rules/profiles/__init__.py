"""Rule profiles: their options, the packaged ones, and the documents that they come from."""
