"""Numbers in text are the doubles that Python reads."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from askwhen.data.formats.svmlight import parse_block

HARD = """0 -0 +0.0 5e-324 2.2250738585072014e-308 2.2250738585072011e-308 1e308 1.7976931348623157e308 1e400 -1e-400
9007199254740993 9007199254740992.5 9007199254740991 7.2057594037927933e16 1.00000000000000011102230246251565404
8.98846567431158e307 1e22 1e23 1e-22 1e-23 .5 5. +.25 00001.5 0000000000000000000000000001
123456789012345678901234567890 0.1 0.3
1e0 1E+5 1e-5 6.02214076e23 18446744073709551615 18446744073709551616 9223372036854775807 inf -inf nan 1e00005
4.4501477170144023e-308 0.000000000000000000000000000000000000000000001 1.5e-45
3.5844466002796428e+298""".split()  # noqa: SIM905


def read(texts):
    return parse_block(bytearray("".join(f"1 1:{text}\n" for text in texts), "utf-8")).data


def assert_as_python_reads(texts):
    np.testing.assert_array_equal(read(texts), [float(text) for text in texts])


def test_hard_numbers():
    assert_as_python_reads(HARD)
    assert np.signbit(read(["-0", "-0.0"])).all()


def test_all_kinds_of_doubles():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**64, 20000, dtype=np.uint64).view(np.float64)
    values = values[np.isfinite(values)].tolist()
    for form in (repr, "{:.17g}".format, "{:.18e}".format, "{:.15g}".format, "{:.3g}".format, "{:.20e}".format):
        assert_as_python_reads([form(value) for value in values])


def test_halfway_cases():
    """Exactly between two doubles, and as near to that as 19 digits say."""
    rng = np.random.default_rng(1)
    texts = []
    for w in rng.integers(2**53, 2**63, 3000).tolist():
        w -= w % 2048
        texts += [str(w + 1024), str(w + 1023), str(w + 1025), f"{w + 1024}e-3", f"{w + 1024}e3"]
    assert_as_python_reads(texts)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**22), st.integers(-360, 320)), min_size=1, max_size=50))
def test_digits_and_exponents(pairs):
    assert_as_python_reads([f"{w}e{e}" for w, e in pairs])
