"""Stores: how they are opened, read into arrays and compared."""
