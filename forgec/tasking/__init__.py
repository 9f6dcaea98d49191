"""Tasks that are made, and proved: from the graph of a spec's tools."""
