"""Faults at random moments, and whether every promise held."""
