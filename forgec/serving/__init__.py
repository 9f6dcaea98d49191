"""Environments for agents outside of this program: sessions, played by whoever holds their ids.

It lives in forgec, not in the runtime, since the simulated user and the verdict on it are here; it does without the
compiler, and what is served needs only a generated package. What a service of others is made of (NeMo Gym's servers) is
generated, and imports this: nothing here imports it.
"""
