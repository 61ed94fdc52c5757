"""Who may do what: roles, what each person prefers, and the log of what was done."""
