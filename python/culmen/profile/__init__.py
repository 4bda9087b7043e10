"""Profiles of MPI programs: the functions that ranks called, how often, and for how long."""
