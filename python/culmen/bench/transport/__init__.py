"""``culmen bench transport``: the efficiency of the transports, for grids of workers and durations."""
