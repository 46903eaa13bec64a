"""`feltwatch bench`: benchmarks of the product on this machine."""
