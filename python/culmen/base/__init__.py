"""Helpers for every room: texts, errors, signals, digests. They know nothing of studies."""
