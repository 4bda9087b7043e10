"""What is sought: the space, the goals, the optimizer's options, a command."""
