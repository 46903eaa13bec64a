"""The puck reader in the table: MicroPython for an RP2040, importable under CPython but for `main`."""
