"""A project for NeMo Gym: a resources server an environment, one agent server for all, data sets, manifests."""
