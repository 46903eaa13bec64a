"""Everything between a cable and an event: camera, puck, buttons, lamps, clock, power.

Nothing of ours is imported here. Importing a module of this package touches no hardware and starts no thread:
a device is opened by its `start`, and everything it learns goes to the `put` that was given to `start`.
"""
