"""Simulations of studies on clusters that this machine does not have."""
