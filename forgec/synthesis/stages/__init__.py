"""The stages in which a model writes a spec, a module each; what one has made, the next one sees compiled."""
