"""The problem of a user: space, goals, options of optimizers, commands."""
