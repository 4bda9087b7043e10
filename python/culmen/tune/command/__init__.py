"""``culmen tune command``: finds the settings with which a program is fastest, or best by another figure."""
