"""Rows of worlds that lie in files: read, taken apart into the rows of tables, and checked value by value."""
