"""The chip type of the antennas and their pins on the RP2040: the only file to change for another table.

SPI bus 0 with one select and one reset line per antenna. UNTESTED on hardware.
"""

CHIP = "rc522"
"""`rc522` or `pn532`, the same at every seat."""
SCK, MOSI, MISO = 18, 19, 16
SERVICE = 15
"""Pin that is grounded at the start for service: the program then leaves the port to mpremote."""
BAUD = 500_000
"""Slow enough for half a metre of ribbon (hardware/out/checks.md); a scan waits for tags, not for the bus."""
ANTENNAS = {
    # seat: (select, reset), GP numbers
    1: (2, 3),
    2: (4, 5),
    3: (6, 7),
    4: (8, 9),
    5: (10, 11),
}
