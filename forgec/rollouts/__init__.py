"""Episodes between an agent and a user, from the first word to the reward: played by the thousand, kept on file."""
