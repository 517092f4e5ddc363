"""From a candidate to a verdict, and from many verdicts to a report."""
