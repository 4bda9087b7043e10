"""``culmen bench pingpong``: how long messages between two processes take, over everything that carries them here."""
