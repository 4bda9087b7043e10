"""What every room may use: texts, signals, digests; nothing of studies."""
