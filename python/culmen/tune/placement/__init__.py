"""``culmen tune placement``: finds where the ranks and threads of a program should run."""
