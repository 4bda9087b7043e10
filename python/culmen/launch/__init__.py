"""Launches under MPI: how one is started, and which of its processes this one is."""
