"""The curator's place: benchmarks, tasks and rubrics, read-only from the first run on."""

from benchmark.admin import belongings, benchmarks, criteria, tasks

__all__ = ["belongings", "benchmarks", "criteria", "tasks"]
