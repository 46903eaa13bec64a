"""Cameras: ribbon cable, USB, files, and the simulated one."""
