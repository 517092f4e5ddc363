"""Tasks that people have in other formats, written as ours."""
