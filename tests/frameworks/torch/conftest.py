"""What tests of PyTorch share."""

import pytest
from nanwatch._torch import readout


@pytest.fixture(params=["host", "late"])
def device(request, monkeypatch):
    """No device is here: tensors of the CPU are treated like one's, whose
    copies arrive when a step is over."""
    if request.param == "late":
        monkeypatch.setattr(readout, "HOSTS", set())
    return request.param
