"""Benchmark packs as folders and zips: read into plain values, checked, hashed and written again."""
