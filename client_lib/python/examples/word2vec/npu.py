"""What the two trainings of this folder have in common: the words, and an NPU
of Ascend's first generation, emulated with numpy. It keeps a matrix in blocks
of 16 by 16 with zeros around it, stops at the largest number of fp16 where
others have infinities, and raises one flag for any op that did, whatever is
done with the result."""

from __future__ import annotations

import numpy

import nanwatch

LARGEST = 65504.0  # of fp16
WORDS, GROUPS, WIDTH, BATCH, NEGATIVES = 64, 8, 16, 100, 5
LOGICAL = (BATCH, 1 + NEGATIVES)
STORED = (112, 16)  # in whole blocks


class Pairs:
    """A word, one that stands near it, and some that do not."""

    def __init__(self, seed: int = 1) -> None:
        self._random = numpy.random.default_rng(seed)

    def __call__(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        words = self._random.integers(0, WORDS, BATCH)
        near = words // GROUPS * GROUPS
        near = near + self._random.integers(0, GROUPS, BATCH)
        far = self._random.integers(0, WORDS, (BATCH, NEGATIVES))
        others = numpy.concatenate([near[:, None], far], 1)
        return words.astype("int32"), others.astype("int32")


class Scaler:
    """As ExponentialUpdateLossScaleManager of npu_bridge: halved after every
    second overflow, never below 1; or fixed, and then nobody looks."""

    def __init__(self, dynamic: bool) -> None:
        self.dynamic = dynamic
        self.scale = 2.0**32 if dynamic else 1024.0
        self._bad = self._good = 0

    def declared(self) -> nanwatch.Scaler:
        if not self.dynamic:
            return nanwatch.Scaler(
                kind="static",
                name="ascend_tf_fixed",
                init_scale=self.scale,
                overflow_check=False,
            )
        return nanwatch.Scaler(
            kind="dynamic",
            name="ascend_tf",
            init_scale=self.scale,
            growth_factor=2.0,
            backoff_factor=0.5,
            growth_interval=1000,
            hysteresis=2,
            min_scale=1.0,
        )

    def skips(self, overflow: bool) -> bool:
        return self.dynamic and overflow

    def update(self, overflow: bool) -> None:
        if not self.dynamic:
            return
        self._good = 0 if overflow else self._good + 1
        self._bad += overflow
        if self._bad == 2:
            self.scale, self._bad = max(1.0, self.scale / 2), 0
        elif self._good == 1000:
            self.scale, self._good, self._bad = self.scale * 2, 0, 0


class Log:
    """Tells nanwatch how the op Log was: all that is stored, and of that what
    the model means."""

    def __init__(self, run: nanwatch.Run) -> None:
        self._run = run
        self._op = run.register_op(
            "Log",
            type="Log",
            dtype="fp16",
            shape=LOGICAL,
            storage_shape=STORED,
            data_format="FRACTAL_NZ",
            order=1,
        )

    def tell(self, step: int, stored: numpy.ndarray) -> bool:
        """Whether it overflowed. `stored`: as IEEE has it."""
        overflow = bool(numpy.isinf(stored).any())
        stored = numpy.clip(stored, -LARGEST, LARGEST)
        self._tell(step, stored, int(overflow))
        self._tell(step, stored[: LOGICAL[0], : LOGICAL[1]], None)
        return overflow

    def _tell(self, step: int, x: numpy.ndarray, flag: int | None) -> None:
        self._run.op(
            self._op,
            step=step,
            elements=x.size,
            nan=int(numpy.isnan(x).sum()),
            saturated=int((abs(x) == LARGEST).sum()),
            zero=int((x == 0).sum()),
            abs_max=float(abs(x).max()),
            device_flag=flag,
        )


def open_run(name: str, framework: str, scaler: Scaler) -> nanwatch.Run:
    return nanwatch.init(
        job="word2vec",
        run=name,
        framework=framework,
        precision="fp16",
        overflow_mode="saturation",
        scaler=scaler.declared(),
        device="Ascend 910A (emulated)",
    )
