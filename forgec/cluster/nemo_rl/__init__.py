"""The plug-in of NeMo-RL. Its modules import ray and nemo_rl, and are imported where those are."""
