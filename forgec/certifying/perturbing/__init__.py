"""Perturbed plans: with a call left out, with another value for an argument, with a write too many."""
