"""Who signs in on the stage."""

NAME, PASSWORD = "lead", "a long enough password"
