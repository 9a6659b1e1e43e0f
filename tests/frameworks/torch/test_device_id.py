"""The id of a device is the one that its exporter has."""

import subprocess
import types

import pytest
import torch
from gpu_trainings import needs_a_gpu

from nanwatch._torch.device_id import device_id


def test_a_cpu_has_none():
    assert device_id(torch.device("cpu")) == ""


@pytest.mark.parametrize("index, visible, number", [
    (3, "", "3"), (None, "", "0"), (1, "4,5", "5"), (0, " 7", "7"),
    (2, "4,5", ""), (0, "all", ""),
])
def test_an_npu_has_its_number_on_the_host(index, visible, number):
    """No NPU is here: what torch_npu calls its device."""
    npu = types.SimpleNamespace(type="npu", index=index)
    assert device_id(npu, {"ASCEND_RT_VISIBLE_DEVICES": visible}) == number


def test_a_driver_that_does_not_say():
    """This PyTorch has a CPU alone, or no such device."""
    assert device_id(types.SimpleNamespace(type="cuda", index=9999)) == ""


@needs_a_gpu
def test_a_gpu_has_the_uuid_that_its_driver_tells():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True,
                            check=True).stdout
    found = device_id(torch.device("cuda", torch.cuda.current_device()))
    assert found and found in listed
