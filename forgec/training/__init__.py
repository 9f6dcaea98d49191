"""ERPO and what trains with it. Needs the extra `train`: torch, and a model to train."""
