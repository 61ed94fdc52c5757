"""What the appendix of a paper takes along as it is: the script that recomputes every number."""
