"""Rule profiles: their options, the packaged ones, and their source documents."""
