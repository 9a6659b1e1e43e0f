"""Keras on PyTorch."""

import os

os.environ["KERAS_BACKEND"] = "torch"

from keras_trainings import (  # noqa: E402, F401
    test_a_huge_scale_is_calibration,
    test_a_poisoned_batch,
    test_a_second_fit_is_an_attempt_of_its_own,
    test_an_interrupted_fit_ends_its_run,
    test_healthy,
    test_nothing_waits_for_the_device,
)
