"""How a model is asked: prompts, the forms of answers, reading them leniently, keeping them."""
