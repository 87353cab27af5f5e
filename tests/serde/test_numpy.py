"""Arrays and scalars of numpy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stepwell.errors import UnstorableTypeError

np = pytest.importorskip("numpy")

STRUCTURED = np.dtype([("a", "<i4"), ("b", "<f8", (2,)), ("c", [("d", "S3")])])
ALIGNED = np.dtype({"names": ["a", "b"], "formats": ["<i1", "<f8"], "offsets": [0, 8], "itemsize": 24})
ARRAYS = [
    np.arange(6).reshape(2, 3), np.array(1.5), np.array([]), np.zeros((0, 3), "f4"), np.array([1 + 2j]),
    np.array(["a", "żó"]), np.array([b"a\0b"]), np.array([True, False]), np.array([np.nan, -0.0]),
    np.array(["2020-01-01"], "datetime64[D]"), np.array([5], "timedelta64[ms]"), np.arange(4, dtype=">i4"),
    np.zeros(2, STRUCTURED), np.zeros(2, ALIGNED), np.arange(6).reshape(2, 3).T, np.arange(10)[::2],
    np.array([1.5], "f2"),
]  # fmt: skip
SCALARS = [
    np.int64(1), np.float32(1.5), np.bool_(True), np.str_("ż\0"), np.bytes_(b"a\0"), np.complex64(1j), np.str_(""),
    np.datetime64("2020-01-01T00:00"), np.datetime64("NaT", "s"), np.timedelta64(1, "s"), np.float16("nan"),
    np.zeros(1, STRUCTURED)[0],
]  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}-{array.shape}")
class DescribeAnArray:
    def test_comes_back_with_its_dtype_and_shape(self, codec, array):
        again = codec.decode(codec.encode([array]))[0]

        assert again.dtype == array.dtype and again.shape == array.shape
        np.testing.assert_array_equal(again, array)

    def test_gives_the_same_bytes_again(self, codec, array):
        data = codec.encode(array)

        assert codec.encode(codec.decode(data)) == data

    def test_can_be_written_to_and_owns_its_memory(self, codec, array):
        again = codec.decode(codec.encode(array))

        assert again.flags.writeable and again.flags.owndata


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda scalar: type(scalar).__name__)
def test_a_scalar_comes_back_with_its_type(codec, scalar):
    again = codec.decode(codec.encode({"a": (scalar,)}))["a"][0]

    assert type(again) is type(scalar) and again.dtype == scalar.dtype and again.tobytes() == scalar.tobytes()


@pytest.mark.parametrize("dtype", [np.dtype("f8"), STRUCTURED, ALIGNED], ids=str)
def test_a_dtype_comes_back(codec, dtype):
    assert codec.decode(codec.encode(dtype)) == dtype


def test_a_numpy_key_stays_one(codec):
    again = codec.decode(codec.encode({np.int64(1): 2, np.str_("a"): 3}))

    assert [type(key) for key in again] == [np.int64, np.str_]


@pytest.mark.parametrize(
    "array",
    [np.array([{}], object), np.array([(1, {})], [("a", "i4"), ("b", "O")]), np.ma.array([1]), np.random.default_rng()],
    ids=lambda array: type(array).__name__,
)
def test_what_holds_objects_is_refused(codec, array):
    with pytest.raises(UnstorableTypeError):
        codec.encode(array)


def test_an_array_in_the_state_does_not_import_numpy_for_others():
    code = "import sys; from stepwell.serde import Codec; Codec().encode([1]); print('numpy' in sys.modules)"

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "False"
