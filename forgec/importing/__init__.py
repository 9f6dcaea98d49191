"""Tasks of other benchmarks as tasks of ours, with a report of what is wrong with them."""
