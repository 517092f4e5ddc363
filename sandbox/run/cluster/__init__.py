"""Cells of an experiment on many machines: each is one task of a cluster, and comes back whole."""
