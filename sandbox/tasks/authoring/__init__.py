"""Where an author begins: a repository's pins and its tests, from a registry or from git."""
