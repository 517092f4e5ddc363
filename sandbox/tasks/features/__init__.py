"""Features that are asked for by a specification of numbered clauses, drawn from a number."""
