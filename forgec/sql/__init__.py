"""SQL inside specs: the only door to sqlglot, and to DuckDB as the judge of types."""
