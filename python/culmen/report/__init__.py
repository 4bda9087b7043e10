"""Figures, exports and the report of a store."""
