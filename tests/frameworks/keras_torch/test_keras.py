"""Keras on PyTorch."""

import os

os.environ["KERAS_BACKEND"] = "torch"

from keras_trainings import (  # noqa: E402, F401
    test_a_cross_entropy_below_0,
    test_a_fit_stops_when_it_is_asked,
    test_a_fit_that_failed_at_its_first_batch,
    test_a_fit_that_failed_before_its_first_epoch,
    test_a_fixed_factor_is_a_scale,
    test_a_huge_scale_is_calibration,
    test_a_loop_of_ones_own_after_one_that_was_interrupted,
    test_a_model_without_parameters,
    test_a_poisoned_batch,
    test_a_rate_of_0,
    test_a_second_fit_is_an_attempt_of_its_own,
    test_an_interrupted_fit_ends_its_run,
    test_healthy,
    test_nothing_waits_for_the_device,
    test_two_callbacks_of_one_fit,
)
