"""Tasks of tau2-bench, in an environment of ours that has its tools and its data.

    its JSON (shape) -> gold, played in our environment (playing) -> lines of tasks (lines) -> compiled, played (trying)

What is found on the way is the report. tau2-bench swallows the errors of gold actions; nothing is swallowed here.
"""
