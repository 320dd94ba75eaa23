"""`python -m benchmarks`, which `make bench` runs."""

from benchmarks.bench import print_bench

print_bench(full=True)
