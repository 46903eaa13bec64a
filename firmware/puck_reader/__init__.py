"""The puck reader's firmware: MicroPython for an RP2040; all of it except `main` can be imported under CPython."""
