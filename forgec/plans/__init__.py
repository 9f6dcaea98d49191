"""From checked SQL to what generated Python does: which expressions it computes, and which it asks DuckDB."""
