"""The simulated table in real time: what stands in the room, the players and the dealer."""
