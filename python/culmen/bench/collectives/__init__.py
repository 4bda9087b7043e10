"""``culmen bench collectives``: how long each algorithm of each collective takes."""
