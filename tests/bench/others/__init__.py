"""The same trial as others do it: programs that run in virtual environments of their own."""
