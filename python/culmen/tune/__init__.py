"""Tuners. Each folder tunes one thing."""
