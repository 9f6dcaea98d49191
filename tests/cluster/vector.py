"""The reference vector of ERPO, as trainers hand it in: two environments, three questions, one masked trajectory."""

from __future__ import annotations

import torch

REWARDS = torch.tensor([1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0], dtype=torch.float32)
QUESTIONS = [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
ENVIRONMENTS = ["library"] * 8 + ["phone"] * 4
MASK = torch.ones(12, 5)
MASK[7] = 0
MASK[:, 0] = 0
ADVANTAGES = [1.5155, -0.5052, -0.5052, -0.5052, 0.6736, 0.6736, -1.3472, 0, 0.5774, 0.5774, 0.5774, -1.7321]
