"""``culmen tune app``: tunes the collectives that matter for one program."""
