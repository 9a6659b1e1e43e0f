"""One update of an optimizer, and what a look at its gradients saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nanwatch._torch.glances import Glance
from nanwatch._torch.parameters import Parameter
from nanwatch._torch.statistics import Sizes
from nanwatch._update_faults import ALL_ZERO

if TYPE_CHECKING:
    from nanwatch._torch.optimizers import Followed

_PLAIN_SCALES = (float, type(None), list)  # a list: on the host


class Gradients(NamedTuple):
    """What a look at those of one optimizer saw, by device."""

    parameters: list[list[Parameter]]
    absent: list[Parameter]
    sizes: list[Sizes]


def _have_bad(sizes: Sequence[Sizes]) -> bool:
    return any(each.counts for each in sizes)


class Update:
    """One update: numbers of the host, and places of a readout."""

    __slots__ = (
        "absent",
        "again",
        "applied",
        "asked",
        "comparable",
        "fault",
        "fault_if",
        "fault_of",
        "float_status",
        "found_inf",
        "glanced_at_all",
        "glances",
        "gradients",
        "left_out",
        "looked_at",
        "losses",
        "lr",
        "norms",
        "of",
        "ordinal",
        "parameters",
        "rich",
        "rows",
        "scale",
        "sizes",
        "stuck",
        "underflow",
        "was_written",
        "weight_sizes",
        "weights",
        "zero_means",
    )

    def __init__(self, of: Followed) -> None:
        self.of = of
        self.ordinal = of.updates  # among those of its optimizer
        self.applied: bool | None = None
        self.left_out = False  # by the program, which called no optimizer
        self.looked_at = False  # its gradients, or that failed
        # They were, by others than the backward pass, before the first look.
        self.was_written = False
        # Of a fused optimizer, which decides on the device.
        self.found_inf: Any = None
        self.float_status: tuple[int, ...] = ()
        self.scale: Any = None  # float, of a readout, or None
        self.lr: float | None = None
        # That had gone backward in its step when it was over, and rows of
        # modules that there were.
        self.losses = self.rows = 0
        # The parameters that had a gradient, by device, and their sizes.
        self.gradients: list[list[Parameter]] = []
        # Those that had none, though they are trained.
        self.absent: list[Parameter] = []
        self.sizes: list[Sizes] = []
        # The same of weights, where they were looked at.
        self.parameters: list[list[Parameter]] = []
        self.weight_sizes: list[Sizes] = []
        # Of some weights, by device; where there are replicas, or where a NaN
        # among weights would be lost in the update.
        self.glances: list[Glance] = []
        self.weights = 0  # how many there were
        self.glanced_at_all = False
        self.comparable = False  # with what other ranks tell of these
        # Norms of gradients as the optimizer gets them; seldom looked at.
        self.again: Any = None
        self.norms: Any = None  # of the update, a tensor each
        self.rich = False  # all that is known of gradients is worth its rows
        self.underflow: Any = None  # counts, at level "layers"
        # How the update is made wrong (`faults`); where that hangs on a number
        # of a readout, if it is not 0.
        self.fault = 0
        self.fault_if: Any = None
        self.fault_of = ""  # the part of the model
        self.asked: Any = None  # see `untrained`
        self.zero_means = ALL_ZERO  # the fault, if all gradients are 0
        self.stuck: Any = None  # counts, seldom

    def take_gradients(self) -> Gradients:
        """What was seen of them, for them to be looked at anew."""
        taken = Gradients(self.gradients, self.absent, self.sizes)
        self.gradients, self.absent, self.sizes = [], [], []
        self.rich, self.underflow = False, None
        return taken

    def keep_first(self, first: Gradients) -> None:
        """Of two looks at gradients that grew: those that are not finite stay
        so, and the first says most of where that began."""
        if _have_bad(first.sizes) and _have_bad(self.sizes):
            self.gradients, self.absent, self.sizes = first

    def is_known_bad(self) -> bool:
        """A gradient is not finite, or its norm in 32 bits; on the host."""
        return any(sizes.odd for sizes in self.sizes)

    def is_plain(self) -> bool:
        """Applied, and what was measured of it are finite numbers on the
        host."""
        for sizes in self.sizes:
            if not sizes.plain:
                return False
        for sizes in self.weight_sizes:
            if not sizes.plain:
                return False
        return (
            self.applied is True
            and self.fault == 0
            and self.stuck is None
            and self.asked is None
            and self.found_inf is None
            and type(self.scale) in _PLAIN_SCALES
        )
