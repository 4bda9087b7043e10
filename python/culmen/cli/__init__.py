"""The command line: one thin file for each command. The work is done in `work`."""
