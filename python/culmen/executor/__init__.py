"""Executors: culmen's own, joblib's backend, and executors that a program lends."""
