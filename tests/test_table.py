"""The table itself: no row hides another, and what is compiled alike is tested on one worker."""

import pytest

from tests.table import _ROWS, ROWS


def test_no_two_rows_have_one_name():
    assert len(ROWS) == len(_ROWS)


@pytest.mark.xdist_group("any")
def test_groups_are_heard_where_there_are_workers(request):
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("needs -n 2 --dist loadgroup")
    assert request.node.nodeid.endswith("@any")
