"""A spec by rule: what the names, types and texts of a document say of its state, and what its operations do to it.

    words -> purposes -> entities -> sessions, rows -> tools and their trials -> a spec that compiles, and a report

An operation whose purpose is recognised becomes a tool with a test that shows its documented effect. The others become
tools that refuse, which the checker names.
"""

from forgec.synthesis.drafting.draft import Drafted, Outcome, draft

__all__ = ["Drafted", "Outcome", "draft"]
