"""How a spec begins: the commented starter, and drafts of specs from schemas and data that exist already.

    sources (schema.sql, SQLite, CSV, Parquet) -> found tables -> draft -> text of a spec

What a source says and a spec cannot say is never dropped in silence: it becomes a comment of the draft.
"""
