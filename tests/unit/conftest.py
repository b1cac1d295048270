"""Runs fewer Hypothesis examples when somebody is waiting (`make check`)."""

import os

from hypothesis import settings

settings.register_profile("quick", max_examples=10, deadline=None)
if os.environ.get("TAPEWISE_TEST_EXAMPLES") == "quick":
    settings.load_profile("quick")
