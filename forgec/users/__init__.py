"""Who plays the user: reads what the task tells it, speaks to the agent, and calls the tools of its own side."""
