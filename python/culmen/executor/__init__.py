"""Executors: culmen's own, joblib's, and those that a program lends."""
