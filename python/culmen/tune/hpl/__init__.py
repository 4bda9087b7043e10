"""``culmen tune hpl``: the settings with which HPL, the Linpack benchmark, reaches most GFLOPS on this machine."""
