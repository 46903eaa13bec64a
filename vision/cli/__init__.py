"""The commands `feltwatch read`, `enrol` and `optics`."""
