"""Where a number that is not finite is born in a backward pass: slow, by a hook
on everything, and without nanwatch."""

from torch import nn


def born_backward(fault):
    """The names that are right for it: the module whose backward pass made the
    first one from step `fault.begin` on, and its parameters. The loss is no module:
    what it made is first seen where it arrives."""
    training = fault.training()
    for _ in range(fault.begin):
        training.step()
    fault.strike(training)
    forward, bad = [], []
    for module_name, module in training.model.named_modules():
        if not isinstance(module, (nn.Conv2d, nn.Linear, nn.ReLU)):
            continue
        module.register_forward_hook(
            lambda _, __, out, name=module_name: follow(
                name, out, forward, bad))
        for parameter in module.parameters():
            parameter.register_post_accumulate_grad_hook(
                lambda p, name=module_name: note(name, p.grad, bad))
    for _ in range(fault.begin, fault.steps):
        if bad:
            break
        forward.clear()
        training.step()
    first = bad[0]
    return (first, *(f"{first}.{name}" for name, _ in
                     training.model.get_submodule(first).named_parameters()))


def follow(name, out, forward, bad):
    """The gradient of an output is made by the module behind it."""
    at = len(forward)
    forward.append(name)
    out.register_hook(lambda grad: note(
        forward[min(at + 1, len(forward) - 1)], grad, bad))


def note(name, grad, bad):
    if not grad.isfinite().all():
        bad.append(name)
