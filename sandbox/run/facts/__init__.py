"""What happened in the container while a run went on, as facts of its trace."""
