"""The pit's proof log: signed heads in a Merkle tree, checkpoints that tables cosign, and what verifies all of it."""
