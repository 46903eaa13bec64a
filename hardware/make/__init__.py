"""What writes everything that is bought, printed, wired and mounted, from the data in `hardware/`: `make hardware`.

A tool for the checkout, no part of the product: nothing of the product imports it and no wheel carries it.
"""
