"""Tasks of seeds: what a defect is laid out as, as folders of files that are filled in."""
