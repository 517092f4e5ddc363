# What the tasks of one repository share. A C project is built from its own sources and has no
# packages beside it: this step lays the mirror, which holds what the repository pins, if anything.
FROM go

COPY mirror/ /opt/mirror/
