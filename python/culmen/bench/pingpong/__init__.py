"""``culmen bench pingpong``: the time of messages between two processes, on each route of this machine."""
