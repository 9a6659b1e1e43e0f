"""What a process says of its training without being asked."""

import pytest
from daemons import ROOT  # noqa: F401  finds nanwatch

from nanwatch._settings import rewards


@pytest.mark.parametrize("modules, told", [
    ({"torch"}, {}),
    ({"torch", "gymnasium"}, {"trains_on": "rewards"}),
    ({"stable_baselines3.common"}, {}),
])
def test_environments_of_rewards(modules, told):
    assert rewards(modules) == told
