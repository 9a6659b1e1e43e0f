"""What is put into a training, and what `nanwatch compare` shall say of it."""

import types

import torch


class Fault:
    """`kind`: the class. `op`: the place of the net that is named; empty: any. `step`: where the runs part; None: at the first."""

    def __init__(self, name, kind, op="", step=0, put=None, **settings):
        self.name, self.kind, self.op, self.step = name, kind, op, step
        self.put = put or (lambda model: None)
        self.settings = settings


def _at(model, path):
    for name in path.split(".") if path else ():
        model = getattr(model, name)
    return model


def _after(model, path, change):
    """What the module of this path makes is changed, within it."""
    module = _at(model, path)
    before = module.forward
    module.forward = types.MethodType(
        lambda self, *args: change(before(*args)), module)


def epsilon(model):
    _at(model, model.places["norm"]).eps = 1e-3


def tanh(model):
    _at(model, model.places["act"]).approximate = "tanh"


def transposed(model):
    with torch.no_grad():
        weight = _at(model, model.places["square"])
        weight.copy_(weight.clone().transpose(0, 1))


def permuted(model):
    with torch.no_grad():
        weight = _at(model, model.places["square"])
        weight.copy_(weight.clone().flip(0))


def one_element(model):
    def change(made):
        made = made.clone()
        made.view(-1)[made.numel() // 3] += 0.5
        return made
    _after(model, model.places["linear"], change)


def one_nan(model):
    def change(made):
        made = made.clone()
        made.view(-1)[made.numel() // 3] = float("nan")
        return made
    _after(model, model.places["linear"], change)


def last_row(model):
    def change(made):
        made = made.clone()
        made[-1] = 0
        return made
    _after(model, model.places["linear"], change)


def no_bias(model):
    module = _at(model, model.places["linear"])
    bias = module.bias
    shape = (-1, 1, 1) if hasattr(module, "kernel_size") else (-1,)
    _after(model, model.places["linear"], lambda made: made - bias.view(shape))


def temperature(model):
    _at(model, model.places["between"]).between = 1.01


def scores(model):
    _at(model, model.places["between"]).between = 1.02


def lower_format(model):
    _after(model, model.places["linear"], lambda made: made.bfloat16().float())


class _Steeper(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return 1.02 * gradient


def steeper(model):
    _after(model, model.places["linear"], _Steeper.apply)


FAULTS = [
    Fault("epsilon 1e-3 in a norm", "divergent_op", "norm", put=epsilon),
    Fault("GELU by tanh", "divergent_op", "act", put=tanh),
    Fault("weight transposed", "other_weights", "square", put=transposed),
    Fault("weight's rows in another order", "other_weights", "square",
          put=permuted),
    Fault("one element + 0.5", "divergent_op", "linear", put=one_element),
    Fault("one element NaN", "divergent_op", "linear", put=one_nan),
    Fault("last row is 0", "divergent_op", "linear", put=last_row),
    Fault("bias lost", "divergent_op", "linear", put=no_bias),
    Fault("temperature 1 %", "divergent_function", "after", put=temperature),
    Fault("scores 2 %", "divergent_function", "after", put=scores),
    Fault("bf16 in one op", "divergent_op", "linear", put=lower_format),
    Fault("gradient 2 % wrong in one op", "divergent_backward", "linear",
          put=steeper),
    Fault("seed of dropout", "other_seed", "drop", dropout_seed=77),
    Fault("order of data from step 2", "other_data", step=2, other_data=2),
    Fault("schedule ahead by one", "other_schedule", ahead=1),
    Fault("clipping forgotten", "other_optimizer", step=1, clip=None),
]
# Those that a walk through tensors finds, whatever else differs.
WALKED = ("divergent_op", "divergent_function", "divergent_backward")
