"""A study, from its tables to its result."""
