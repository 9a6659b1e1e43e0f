"""Whether the graph of a loss shows that it follows rewards, as those of deep
Q-learning, of policy gradients and of PPO do. Such losses grow in health."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nanwatch._torch.loss_terms import ALIKE, name_of

# Nodes looked at, from the loss on. Ours: such losses have some ten in front of
# what the model gave.
_MOST = 64
_DISTANCES = {"MseLoss", "SmoothL1Loss", "HuberLoss"}


def follows_rewards(root: Any) -> bool:
    """A loss of this node does."""
    return any(map(_tells, _nodes(root)))


def _tells(node: Any) -> bool:
    name = name_of(node)
    if name in _DISTANCES:
        return _is_picked(_input(node))
    if name == "Pow":
        difference = _input(node)
        return name_of(difference) == "Sub" and any(
            _is_picked(each) for each in _inputs(difference)
        )
    if name == "Mul":
        return any(_is_log_probability(each) for each in _inputs(node))
    if name in ("Minimum", "Maximum"):
        return {"Exp", "Clamp"} <= {
            name_of(factor)
            for product in _inputs(node)
            for factor in _inputs(product)
        }
    return False


def _is_picked(node: Any) -> bool:
    """One output for each row: that of the action which was taken. Not the
    likelihood of a class, nor a place in a sequence."""
    if name_of(node) != "Gather":
        return False
    index = getattr(node, "_saved_index", None)
    return (
        index is not None
        and index.dim() == 2
        and index.shape[1] == 1
        and "Softmax" not in name_of(_input(node))
    )


def _is_log_probability(node: Any) -> bool:
    """Of an action, as torch.distributions has it: a loss that weighs it weighs
    it by what the action was worth."""
    if name_of(node) != "Gather":
        return False
    logits = _input(node)
    return name_of(logits) == "Sub" and any(
        name_of(each) == "Logsumexp" for each in _inputs(logits)
    )


def _nodes(root: Any) -> Iterator[Any]:
    waiting, seen = [root] if root is not None else [], 0
    while waiting and seen < _MOST:
        node = waiting.pop(0)
        seen += 1
        yield node
        waiting += _inputs(node)


def _inputs(node: Any) -> list[Any]:
    """What it was computed of, but for what is alike."""
    found = []
    for used, _ in node.next_functions if node is not None else ():
        while used is not None and name_of(used) in ALIKE:
            used = used.next_functions[0][0]
        if used is not None:
            found.append(used)
    return found


def _input(node: Any) -> Any:
    return next(iter(_inputs(node)), None)
