"""Tasks in bulk: a file with a JSON object a line, which says what a `task` block does, and needs no parser."""
