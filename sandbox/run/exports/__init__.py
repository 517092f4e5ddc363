"""Stored runs in other people's formats. Each format has a file; `stored_run` is what all read."""
