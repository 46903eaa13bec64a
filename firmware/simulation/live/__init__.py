"""The simulated table in real time: the devices, the players and the dealer."""
