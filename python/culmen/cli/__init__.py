"""The command line: a thin file a command; `work` has what they do."""
