"""Statistics of results: ratings, intervals, comparisons, sequential tests."""
