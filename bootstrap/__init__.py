"""Make the environment on a machine that has nothing but a Python: standard library only."""
