"""Tuners: a folder for each thing that they tune."""
