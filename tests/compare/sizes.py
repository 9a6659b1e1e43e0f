"""How large a fault is beside the noise of a format. It is measured in PyTorch
alone, at the first step and at the tensor that the fault touches first."""

import math

import nets
import torch
import training


def _place(net, fault):
    """The module's path, and which of its tensors."""
    if fault.kind == "divergent_function":
        return net.places["after"], "input"
    slot = "gradient" if fault.kind == "divergent_backward" else "output"
    return net.places[fault.op], slot


def _touched(net_name, seed, place, slot, put=None, autocast=None):
    torch.set_num_threads(1)
    net = nets.NETS[net_name]
    torch.manual_seed(seed)
    model = net()
    if put is not None:
        put(model)
    torch.manual_seed(10 + seed)
    given, wanted = training.batches(net, seed, 1)[0]
    taken = []

    def hook(module, args, output):
        if slot == "gradient":
            args[0].register_hook(taken.append)
        else:
            taken.append(args[0] if slot == "input" else output)

    model.get_submodule(place).register_forward_hook(hook)
    with training.casting(autocast):
        made = model(given)
    scale = training.SCALE if autocast == torch.float16 else 1.0
    (scale * net.loss(made.float(), wanted)).backward()
    return taken[0].detach().double() / (scale if slot == "gradient" else 1)


class Sizes:
    """Of one net and seed: shares of the touched tensor's norm."""

    def __init__(self, net_name, seed):
        self._of = net_name, seed
        self._plain = {}

    def _distance(self, at, **changed):
        if at not in self._plain:
            self._plain[at] = _touched(*self._of, *at)
        plain = self._plain[at]
        apart = ((_touched(*self._of, *at, **changed) - plain).norm()
                 / plain.norm()).item()
        return math.inf if math.isnan(apart) else apart

    def fault(self, fault):
        """In fp32, where nothing else differs."""
        at = _place(nets.NETS[self._of[0]], fault)
        return self._distance(at, put=fault.put)

    def noise(self, fault, autocast):
        """Of a healthy pair there: fp32 and the format."""
        at = _place(nets.NETS[self._of[0]], fault)
        return self._distance(at, autocast=autocast)
