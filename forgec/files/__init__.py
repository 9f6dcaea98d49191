"""The files of a spec: which belong to it, and what is in them."""
