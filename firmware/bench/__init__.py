"""`feltwatch bench`: the product measured on this machine."""
