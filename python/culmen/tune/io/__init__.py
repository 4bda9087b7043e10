"""``culmen tune io``: finds settings with which a program writes and reads files faster."""
