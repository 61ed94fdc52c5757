"""What happened: runs of code agents, their rounds, verdicts and evidence."""
