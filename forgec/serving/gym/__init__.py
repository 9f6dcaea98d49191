"""What the servers are made of that `forgec export nemo-gym` writes for NeMo Gym."""
