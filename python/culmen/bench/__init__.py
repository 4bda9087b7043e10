"""Measures the machine at hand."""
