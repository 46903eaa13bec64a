"""Proof of the record: hash chain, signatures, anchors and verifiers."""
