"""layerwise_runs.py: trains the 15-layer net of the example under scales of
each kind, and prints the table of docs/WHICH_SCALE.md: how far the loss came,
and what of its gradients each layer lost, against the same pass in fp32."""

import contextlib
import pathlib
import sys

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[3] / "client_lib" / "python"
for folder in (ROOT / "src", ROOT / "examples"):
    sys.path.insert(0, str(folder))

import layerwise  # noqa: E402

CLASSES = 16
SHOWN = (0, 3, 6, 9, 12)  # layers
# What gradients of 2^-40 are beside Adam's usual one, 1e-8, is no update.
EPS = 1e-20


def points(seed, count=512):
    """Points whose classes are those of the nearest of 64 directions."""
    torch.manual_seed(seed)
    x = torch.randn(count, 128)
    labels = torch.randint(0, CLASSES, (64,))
    return x, labels[(x @ torch.randn(128, 64)).argmax(1)]


@contextlib.contextmanager
def in_fp32():
    kept, layerwise.kept = layerwise.kept, lambda x: x.float()
    try:
        yield
    finally:
        layerwise.kept = kept


def gradients(model, x, y):
    """Of each layer: the gradient that arrives at its output, and the scale
    that it is times."""
    found = {}
    hooks = []
    for name, module in model.named_modules():
        if not isinstance(getattr(module, "region", None), layerwise.Region):
            continue

        def look(module, _, out, name=name):
            def take(gradient):
                found[name] = gradient.float(), module.region.scale
            out.register_hook(take)

        hooks.append(module.register_forward_hook(look))
    nn.functional.cross_entropy(model(layerwise.kept(x)), y).backward()
    for hook in hooks:
        hook.remove()
    model.zero_grad()
    return found


def lost_of(model, scaler, x, y):
    """Of each layer the share of the elements that fp32 keeps and fp16 does
    not."""
    held = gradients(model, x, y)
    with in_fp32():
        true = gradients(model, x, y)
    for region in scaler.regions.values():
        region.wants.clear()
    count = {n: torch.count_nonzero(g).item() for n, (g, _) in true.items()}
    return {name: 1 - torch.count_nonzero(g).item() / max(1, count[name])
            for name, (g, _) in held.items()}


def train(scale, steps, seed=1, most=2.0**40):
    """`scale`: one for all; None: the scaler chooses."""
    x, y = points(seed)
    torch.manual_seed(seed)
    model = layerwise.DeepNet(classes=CLASSES)
    scaler = layerwise.LayerwiseScaler(model, most)
    if scale:
        scaler.fix({r.name: scale for r in scaler.regions.values()})
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=EPS)
    losses = []
    for _ in range(steps):
        pick = torch.randint(0, len(x), (64,))
        loss = nn.functional.cross_entropy(
            model(layerwise.kept(x[pick])), y[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scaler.update()
        losses.append(loss.item())
    lost = lost_of(model, scaler, x[:256], y[:256])
    scales = {r.name: r.scale for r in scaler.regions.values()}
    return losses, lost, scales


ROWS = (("one, 2^0", 2.0**0, {}), ("one, 2^15", 2.0**15, {}),
        ("one, 2^20", 2.0**20, {}),
        ("a layer, promised 0.1 %", None, {}),
        ("a layer, bound 1024", None, {"most": 1024.0}))


def main(steps=400):
    torch.set_num_threads(1)
    print("| scales | loss, first to last | lost of layers 0 / 3 / 6 / 9 / 12, "
          "% | their scales |\n|---|---|---|---|")
    for name, scale, more in ROWS:
        losses, lost, scales = train(scale, steps, **more)
        shares = " / ".join(f"{100 * lost[f'layers.{i}']:.1f}" for i in SHOWN)
        own = "" if scale else ", ".join(
            f"2^{torch.tensor(scales[f'layers.{i}']).log2().item():.0f}"
            for i in SHOWN)
        print(f"| {name} | {losses[0]:.2f} to {sum(losses[-20:]) / 20:.2f} | "
              f"{shares} | {own} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
