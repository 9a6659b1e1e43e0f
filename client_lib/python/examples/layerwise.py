"""A loss scale for each layer, after the formulas of adaptive loss scaling
(Zhao, Vogel and Ahmed, 2019), in PyTorch, and watched:

nanwatchd &
python layerwise.py
nanwatch layers layerwise-example --scales

Gradients are kept in fp16, products are summed in fp32, as on a GPU. Each
activation is a region of its own: the gradient that arrives there is times the
region's scale. A layer divides the gradients of its weight and its bias by the
scale of its output's region, and hands on to its input's in that one's scale.
Where several layers use one activation, all hand on in the same scale: so what
comes from branches may be added.
"""

from __future__ import annotations

import math

import torch
from torch import nn

import nanwatch

SMALLEST = 2.0**-24  # of fp16, as LARGEST
LARGEST = 65504.0
# sqrt(2) erfinv(1e-3): so near to 0, in deviations, are 1 of 1000 normal
# values.
NEAR_ZERO = 1.2533145e-3


def kept(x: torch.Tensor) -> torch.Tensor:
    """As memory holds activations and gradients."""
    return x.half()


class Region:
    """An activation whose gradient has a scale."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.scale = 1.0
        self.adapts = True
        self.most = 2.0**40
        self.wants: list[tuple[float, float]] = []  # least scale, most

    def choose(self) -> None:
        """As much as one of them needs, as little as each bears."""
        wants, self.wants = self.wants, []
        if not wants or not self.adapts:
            return
        scale = max(1.0, *(least for least, _ in wants))
        scale = min(scale, self.most, *(most for _, most in wants))
        self.scale = 2.0 ** math.floor(math.log2(scale))


def region_of(tensor: torch.Tensor) -> Region | None:
    return getattr(tensor, "_region", None)


def in_region(tensor: torch.Tensor, region: Region | None) -> torch.Tensor:
    tensor._region = region
    return tensor


class _Product(torch.autograd.Function):
    """A linear map of its input: `forward_of(x, weight)` and how gradients go
    back through it."""

    @staticmethod
    def forward(ctx, x, weight, bias, layer, source):
        ctx.save_for_backward(x, weight)
        ctx.layer, ctx.source = layer, source
        return kept(layer.product(x.float(), weight, bias))

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        layer, source = ctx.layer, ctx.source
        scale = layer.region.scale
        gradient = gradient.float()
        to_input, to_weight, to_bias = layer.back(x.float(), weight, gradient)
        # This is what must not be forgotten.
        to_weight = to_weight / (1.0 if layer.forgets else scale)
        to_bias = None if to_bias is None else to_bias / scale
        if source is None:
            return None, to_weight, to_bias, None, None
        layer.want(source, gradient / scale, weight)
        to_input = kept(to_input * (source.scale / scale))
        return to_input, to_weight, to_bias, None, None


class _Layer:
    """What layers with a scale share."""

    forgets = False  # a mistake that tests make

    def apply(self, x: torch.Tensor) -> torch.Tensor:
        source = region_of(x)
        if x.requires_grad and source is None:
            raise ValueError(
                f"what goes into {self.region.name} has no scale: use the "
                "functions of this file between layers"
            )
        out = _Product.apply(x, self.weight, self.bias, self, source)
        return in_region(out, self.region)

    def want(
        self, source: Region, gradient: torch.Tensor, weight: torch.Tensor
    ) -> None:
        """The scale that the gradient of its input needs: as a product of
        independent values it is normal, half of whose terms a ReLU left."""
        size = (gradient.square().mean() * weight.square().mean()).sqrt().item()
        size *= math.sqrt(0.5 * self.fan_in)
        most = gradient.abs().max().item() * weight.abs().max().item()
        if not (math.isfinite(size) and math.isfinite(most)) or size == 0.0:
            return
        source.wants.append(
            (
                SMALLEST / (NEAR_ZERO * size),
                LARGEST / self.fan_in / most if most else LARGEST,
            )
        )


class Linear(nn.Linear, _Layer):
    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.region = Region("")
        self.fan_in = self.out_features

    def forward(self, x):
        return self.apply(x)

    def apply(self, x):  # not nn.Module's
        return _Layer.apply(self, x)

    def product(self, x, weight, bias):
        return nn.functional.linear(x, weight, bias)

    def back(self, x, weight, gradient):
        flat = gradient.reshape(-1, gradient.shape[-1])
        bias = None if self.bias is None else flat.sum(0)
        return gradient @ weight, flat.T @ x.reshape(-1, x.shape[-1]), bias


class Conv2d(nn.Conv2d, _Layer):
    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.region = Region("")
        self.fan_in = self.out_channels * math.prod(self.kernel_size)

    def forward(self, x):
        return self.apply(x)

    def apply(self, x):
        return _Layer.apply(self, x)

    def product(self, x, weight, bias):
        return nn.functional.conv2d(x, weight, bias, self.stride, self.padding)

    def back(self, x, weight, gradient):
        how = (self.stride, self.padding)
        bias = None if self.bias is None else gradient.sum((0, 2, 3))
        return (
            nn.grad.conv2d_input(x.shape, weight, gradient, *how),
            nn.grad.conv2d_weight(x, weight.shape, gradient, *how),
            bias,
        )


class _Moved(torch.autograd.Function):
    """The same value in another region."""

    @staticmethod
    def forward(ctx, x, source, target):
        ctx.regions = source, target
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        source, target = ctx.regions
        _want_all(source, gradient.float() / target.scale)
        moved = gradient.float() * (source.scale / target.scale)
        return kept(moved), None, None


class _Top(torch.autograd.Function):
    """From fp16 and its scale to the loss."""

    @staticmethod
    def forward(ctx, x, region):
        ctx.region = region
        return x.float()

    @staticmethod
    def backward(ctx, gradient):
        # Before any layer makes use of it: of this gradient, not of the last.
        _want_all(ctx.region, gradient)
        ctx.region.choose()
        return kept(gradient * ctx.region.scale), None


def _want_all(region: Region, gradient: torch.Tensor) -> None:
    """The scale of values that are there, by their logarithms: log-normal."""
    sizes = gradient.abs()
    logs = sizes[sizes > 0].log2()
    if logs.numel() > 1:
        low = -24.0 - (logs.mean() - 3.09 * logs.std()).item()
        most = sizes.max().item()
        region.wants.append((2.0**low, LARGEST / 2 / most))


def same(of, x: torch.Tensor) -> torch.Tensor:
    """An elementwise function, a reshape: the gradient that goes on is about as
    large as the one that comes, and has its scale."""
    return in_region(of(x), region_of(x))


def relu(x: torch.Tensor) -> torch.Tensor:
    return same(torch.relu, x)


class Add(nn.Module):
    """The sum of two branches."""

    def __init__(self) -> None:
        super().__init__()
        self.region = Region("")

    def forward(self, a, b):
        moved = [
            x
            if region_of(x) is None
            else _Moved.apply(x, region_of(x), self.region)
            for x in (a, b)
        ]
        return in_region(moved[0] + moved[1], self.region)


def top(x: torch.Tensor) -> torch.Tensor:
    """What the loss is made of, in fp32."""
    return _Top.apply(x, region_of(x))


class LayerwiseScaler:
    """Chooses the scales, as powers of two, from what gradients were like."""

    def __init__(
        self, model: nn.Module, most: float = 2.0**40, every: int = 1
    ) -> None:
        """`most`: the bound of a scale (1024 in the authors' code, too little
        for deep networks). `every`: updates between two choices."""
        self.most, self.every, self._updates = most, every, 0
        self.regions = {}
        for name, module in model.named_modules():
            if isinstance(getattr(module, "region", None), Region):
                module.region.name, module.region.most = name, most
                self.regions[module] = module.region

    def scales(self) -> dict[nn.Module, float]:
        return {m: region.scale for m, region in self.regions.items()}

    def update(self) -> None:
        """After each backward pass."""
        self._updates += 1
        for region in self.regions.values():
            if self._updates % self.every:
                region.wants.clear()
            region.choose()

    def fix(self, scales: dict[str, float]) -> None:
        """Scales that stay, by name."""
        for region in self.regions.values():
            region.adapts = False
            region.scale = scales.get(region.name, region.scale)

    def __repr__(self) -> str:
        return f"LayerwiseScaler(most={self.most}, every={self.every})"


class _Shrink(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = by
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        # By the layer before: it is a part of its product.
        return gradient * ctx.by, None


class DeepNet(nn.Module):
    """15 layers, of which each makes gradients smaller: those of the first are
    2^40 times below those of the last."""

    def __init__(
        self,
        width: int = 128,
        depth: int = 14,
        classes: int = 10,
        shrink: float = 0.12,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [Linear(width, width) for _ in range(depth)]
        )
        self.head = Linear(width, classes)
        self.shrink = shrink
        for layer in self.layers:
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        for layer in self.layers:
            x = relu(layer(x))
            x = same(lambda v: _Shrink.apply(v, self.shrink), x)
        return top(self.head(x))


def main() -> None:
    torch.manual_seed(1)
    model = DeepNet()
    scaler = LayerwiseScaler(model)
    # Adam's usual eps of 1e-8 is far above the gradients of the first layers:
    # they would not move.
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-20)
    watch = nanwatch.torch.watch(
        model,
        optimizer,
        run="layerwise-example",
        scaler=nanwatch.Scaler(
            kind="layerwise", name="adaloss", max_scale=scaler.most
        ),
    )
    nanwatch.torch.layer_scales(watch, scaler.scales, every=1)
    centres = torch.randn(10, 128)
    for _ in range(200):
        labels = torch.randint(0, 10, (64,))
        x = (centres[labels] + 0.5 * torch.randn(64, 128)).half()
        # Some labels are wrong, so that none is learned by heart.
        wrong = torch.rand(64) < 0.3
        labels = torch.where(wrong, torch.randint(0, 10, (64,)), labels)
        loss = nn.functional.cross_entropy(model(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch.step(loss)
        scaler.update()
    watch.close()


if __name__ == "__main__":
    main()
