"""Who plays the agent: built-in ones, recorded ones, a Python function, or a model behind an endpoint."""
