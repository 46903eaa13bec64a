"""The table's devices: camera, puck reader, push-buttons, lamps, clock, power.

The package imports nothing else of the product. Importing its modules touches no hardware and starts no thread: a
device is opened by its `start`, and passes everything it reads to the `put` given to `start`.
"""
