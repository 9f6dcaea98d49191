"""Training on clusters: compiled environments in trainers that other projects make."""
