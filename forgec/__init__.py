"""forgec: environments-as-code for training tool-using LLM agents."""
