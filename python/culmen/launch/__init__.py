"""Ranks: how a launch under MPI is started, and which of its processes this one is."""
