"""Profiles of MPI programs: what ranks called, how often, and how long that took."""
