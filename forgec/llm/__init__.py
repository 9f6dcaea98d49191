"""The one way to a language model: any endpoint of OpenAI's chat completions, with limits, retries and budgets."""
