"""What agents and authors see of a spec: data first (`overview`, `tool`, `parts`), then text (`text`)."""
