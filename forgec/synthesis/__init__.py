"""From documentation of tools to a spec: by rule (`drafting`)."""
