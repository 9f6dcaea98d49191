"""The graph of a spec's tools, drawn: as Mermaid, as DOT, as a page to look at and search."""
