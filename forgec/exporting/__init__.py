"""Environments in the forms of other frameworks: files that are written here, and import `forgec.serving` there."""
