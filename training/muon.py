"""Muon (Jordan et al. 2024): momentum whose every direction is made equally long.

As `torch.optim.Muon` with steps of the size of AdamW's, but for all matrices of one shape at once:
one by one, small matrices leave a GPU idle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5
MOMENTUM = 0.95


def orthogonal(matrices: torch.Tensor) -> torch.Tensor:
    """[matrix, row, column] with singular values near 1, by five Newton–Schulz steps."""
    a, b, c = COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.to(torch.bfloat16)
    x = x.mT if tall else x
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(STEPS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """For the matrices of the layers; the others are AdamW's."""

    def __init__(self, matrices: Iterable[torch.nn.Parameter], *, weight_decay: float) -> None:
        super().__init__(matrices, {"lr": 1e-3, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """One step of every matrix. The momentum of all of a shape stands with the first."""
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for matrix in group["params"]:
                by_shape[matrix.shape].append(matrix)
            for shape, matrices in by_shape.items():
                gradients = torch.stack([matrix.grad for matrix in matrices])
                state = self.state[matrices[0]]
                momentum = state.setdefault("momentum", torch.zeros_like(gradients))
                momentum.lerp_(gradients, 1 - MOMENTUM)
                steps = orthogonal(gradients.lerp(momentum, MOMENTUM)).float()
                size = group["lr"] * 0.2 * max(shape) ** 0.5
                torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
                torch._foreach_add_(matrices, list(steps.unbind()), alpha=-size)
