"""What an Ascend machine's environment says of overflows."""

import pytest
from daemons import ROOT  # noqa: F401  finds nanwatch

from nanwatch._overflow_mode import of_environment


@pytest.mark.parametrize("environment, mode", [
    ({}, ""),
    ({"INF_NAN_MODE_ENABLE": "1"}, "inf_nan"),
    ({"INF_NAN_MODE_ENABLE": "0"}, "saturation"),
    ({"INF_NAN_MODE_ENABLE": "perhaps"}, ""),
    ({"MS_ASCEND_CHECK_OVERFLOW_MODE": "SATURATION_MODE"}, "saturation"),
    ({"MS_ASCEND_CHECK_OVERFLOW_MODE": "INFNAN_MODE"}, "inf_nan"),
    ({"MS_ASCEND_CHECK_OVERFLOW_MODE": ""}, ""),
    ({"INF_NAN_MODE_ENABLE": "1",
      "MS_ASCEND_CHECK_OVERFLOW_MODE": "SATURATION_MODE"}, "inf_nan"),
])
def test_environment(environment, mode):
    assert of_environment(environment) == mode
