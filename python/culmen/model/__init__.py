"""``culmen model``: models of measured times, and which algorithm they predict to be the fastest."""
