"""`feltwatch simulate`: whole evenings at the table, faster than real time, with faults.

The real table process uses the real journal. Simulated are: a stepped clock, the devices, a reader with the measured
error rates, the players and the dealer. README.md states what a run proves and what it cannot.
"""
