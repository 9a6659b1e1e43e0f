"""What a process says of its training without being asked."""

import types

import pytest
from daemons import ROOT  # noqa: F401  finds nanwatch

from nanwatch import _environment
from nanwatch._settings import add_settings, rewards


@pytest.mark.parametrize("modules, told", [
    ({"torch"}, {}),
    ({"torch", "gymnasium"}, {"trains_on": "rewards"}),
    ({"stable_baselines3.common"}, {}),
])
def test_environments_of_rewards(modules, told):
    assert rewards(modules) == told


def test_what_bears_on_numbers_is_read_of_environment_and_modules():
    modules = {"torch": types.SimpleNamespace(__version__="2.9.1"),
               "numpy": types.SimpleNamespace(),  # its package says it
               "keras": None}
    known = _environment.known({"HCCL_DETERMINISTIC": "true", "NCCL_ALGO": "",
                                "HOME": "/root"}, modules)
    assert known["torch"] == "2.9.1"
    assert known["env.HCCL_DETERMINISTIC"] == "true"
    assert "keras" not in known
    assert not {"env.NCCL_ALGO", "env.HOME"} & known.keys()


def test_what_the_caller_says_stands_and_comes_first():
    init = {"settings": {"torch": "mine", "lr": "1"}}
    add_settings(init, torch="2.9.1", python="3.11")
    assert list(init["settings"].items()) == [
        ("torch", "mine"), ("lr", "1"), ("python", "3.11")]
