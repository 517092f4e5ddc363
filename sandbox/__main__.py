"""`python -m sandbox` is the command `sandbox`."""

from sandbox.cli.app import main

main()
