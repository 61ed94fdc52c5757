"""Readers of other people's published sets: one module each, found by scanning this folder.

A module has `NAME`, `sniff(path) -> bool` and `read(path, options) -> PublishedSet`, as
`benchmark.packs.published.Format` describes them.
"""
