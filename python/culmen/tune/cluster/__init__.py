"""``culmen tune cluster``: which algorithms of the collectives are faster than the MPI's own choice on this cluster."""
