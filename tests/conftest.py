"""Puts this folder on sys.path, for harness.py."""
