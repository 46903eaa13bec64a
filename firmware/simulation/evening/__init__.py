"""`feltwatch simulate`: whole evenings at the table, faster than real time, with everything that can go wrong.

The real table process runs on the real journal; what is simulated stands outside: a clock that is moved by hand, the
far ends of the devices, a reader that errs as the measured one does, players and a dealer. README.md says what a run
claims and what it cannot.
"""
