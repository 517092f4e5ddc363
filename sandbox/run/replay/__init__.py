"""A recorded run done again: the same actions and answers in a fresh world, and what differs."""
