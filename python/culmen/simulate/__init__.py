"""Simulations of studies on other clusters."""
