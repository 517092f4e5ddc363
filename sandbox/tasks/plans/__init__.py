"""Plans: what a task is made of, and what is derived from it."""
