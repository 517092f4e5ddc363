"""Programs that are laid into the grading container; nothing of the project imports them."""
