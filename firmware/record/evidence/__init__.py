"""What proves the record: its chain, signatures, anchors and verifiers."""
