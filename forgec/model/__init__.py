"""The checked model of a spec."""
