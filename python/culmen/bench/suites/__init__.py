"""Benchmark suites that the user has: OSU Micro-Benchmarks and Intel MPI Benchmarks."""
