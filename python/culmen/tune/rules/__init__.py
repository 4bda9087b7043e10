"""Files that choose the algorithms of collectives: rules of Open MPI, and trees of MPICH."""
