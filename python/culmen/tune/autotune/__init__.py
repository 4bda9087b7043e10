"""Tunes the collectives of an MPI program while it runs."""
