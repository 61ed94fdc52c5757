"""What is measured: benchmarks, tasks, rubrics, and the protocols that score them."""
