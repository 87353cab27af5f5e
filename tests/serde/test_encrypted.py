"""Sealed bytes open with their key, in their place, unchanged; or not at all."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("cryptography")

from stepwell.checkpoint.serde.encrypted import AesGcmCipher, EncryptedSerializer  # after importorskip
from stepwell.checkpoint.serde.jsonplus import JsonPlusSerializer  # as above
from stepwell.errors import SealError, SerializationError  # as above

KEY, OTHER = b"0123456789abcdef", b"fedcba9876543210"
HERE, THERE = b"rows|t1||1", b"rows|t2||1"


@pytest.fixture
def serde() -> EncryptedSerializer:
    return EncryptedSerializer.from_pycryptodome_aes(key=KEY)


class Reversed:
    """Somebody's own cipher."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "rev", plaintext[::-1]

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        if ciphername != "rev":
            raise ValueError(ciphername)
        return ciphertext[::-1]


class DescribeASeal:
    def test_opens_in_its_place(self, serde):
        assert serde.open(serde.seal(b"secret", HERE), HERE) == b"secret"

    def test_hides_what_it_holds_and_never_looks_the_same_twice(self, serde):
        first, second = serde.seal(b"secret", HERE), serde.seal(b"secret", HERE)

        assert b"secret" not in first and first != second

    def test_does_not_open_in_another_place(self, serde):
        with pytest.raises(SealError, match="copied from another row"):
            serde.open(serde.seal(b"secret", HERE), THERE)

    def test_does_not_open_when_any_byte_was_changed(self, serde):
        sealed = serde.seal(b"secret", HERE)
        for place in range(len(sealed)):
            changed = bytearray(sealed)
            changed[place] ^= 1
            with pytest.raises(SealError):
                serde.open(bytes(changed), HERE)

    def test_does_not_open_when_it_was_cut_off(self, serde):
        sealed = serde.seal(b"secret", HERE)
        for end in range(len(sealed)):
            with pytest.raises(SealError):
                serde.open(sealed[:end], HERE)

    def test_does_not_open_with_another_key(self, serde):
        stranger = EncryptedSerializer.from_pycryptodome_aes(key=OTHER)

        with pytest.raises(SealError, match="another key"):
            stranger.open(serde.seal(b"secret", HERE), HERE)

    def test_is_not_mistaken_for_plaintext(self, serde):
        with pytest.raises(SealError, match="are not encrypted"):
            serde.open(JsonPlusSerializer().dumps_typed({"approved": True})[1], HERE)

    def test_is_an_error_of_savers(self):
        assert issubclass(SealError, SerializationError)


class DescribeRotation:
    def test_opens_old_seals_and_makes_new_ones(self):
        old = EncryptedSerializer.from_keys({"2023": KEY}, current="2023")
        both = EncryptedSerializer.from_keys({"2023": KEY, "2024": OTHER}, current="2024")
        new = EncryptedSerializer.from_keys({"2024": OTHER}, current="2024")

        assert both.open(old.seal(b"x", HERE), HERE) == b"x"
        assert new.open(both.seal(b"x", HERE), HERE) == b"x"
        with pytest.raises(SealError, match="the key '2023', which this serializer was not given"):
            new.open(old.seal(b"x", HERE), HERE)


class DescribeTypedBytes:
    def test_come_back(self, serde):
        kind, data = serde.dumps_typed({"a": (1,)})

        assert kind == "stepwell+aes-gcm"
        assert serde.loads_typed((kind, data)) == {"a": (1,)}

    def test_of_plaintext_are_refused(self, serde):
        with pytest.raises(SealError, match="are not encrypted"):
            serde.loads_typed(JsonPlusSerializer().dumps_typed({"approved": True}))

    def test_under_a_false_name_are_refused(self, serde):
        kind, data = serde.dumps_typed(1)

        for forged in (("stepwell+none", data), (kind, JsonPlusSerializer().dumps_typed(1)[1])):
            with pytest.raises(SealError):
                serde.loads_typed(forged)


class DescribeAKey:
    def test_comes_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("STEPWELL_AES_KEY", KEY.decode())
        by_name, by_hand = (
            EncryptedSerializer.from_pycryptodome_aes(),
            EncryptedSerializer.from_pycryptodome_aes(key=KEY),
        )

        assert by_name.open(by_hand.seal(b"x")) == b"x"

    def test_that_is_nowhere_is_asked_for(self, monkeypatch):
        monkeypatch.delenv("STEPWELL_AES_KEY", raising=False)

        with pytest.raises(ValueError, match="STEPWELL_AES_KEY"):
            EncryptedSerializer.from_pycryptodome_aes()

    @pytest.mark.parametrize("size", [0, 15, 17, 64])
    def test_of_another_size_is_refused(self, size):
        with pytest.raises(ValueError, match="must have 16, 24 or 32"):
            EncryptedSerializer.from_pycryptodome_aes(key=bytes(size))

    @pytest.mark.parametrize("size", [16, 24, 32])
    def test_of_the_right_size_works(self, size):
        serde = EncryptedSerializer.from_pycryptodome_aes(key=bytes(size))

        assert serde.loads_typed(serde.dumps_typed([1])) == [1]

    @pytest.mark.parametrize("name", ["", "x" * 256])
    def test_needs_a_name_that_fits(self, name):
        with pytest.raises(ValueError, match="1 to 255 bytes"):
            AesGcmCipher({name: KEY}, name)

    def test_needs_the_package_for_it(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)

        with pytest.raises(ImportError, match=r"pip install 'stepwell\[encryption\]'"):
            AesGcmCipher({"1": KEY}, "1")

    def test_that_is_current_must_be_there(self):
        with pytest.raises(ValueError, match="not among the keys"):
            AesGcmCipher({"1": KEY}, "2")


class DescribeADigest:
    def test_is_equal_for_equal_bytes_under_one_key_only(self, serde):
        other = EncryptedSerializer.from_pycryptodome_aes(key=OTHER)

        assert serde.digest(b"x") == serde.digest(b"x") != serde.digest(b"y")
        assert serde.digest(b"x") != other.digest(b"x")


class DescribeACipherOfYours:
    def test_seals_typed_bytes(self):
        serde = EncryptedSerializer(Reversed())

        assert serde.loads_typed(serde.dumps_typed({"a": 1})) == {"a": 1}

    def test_opens_nothing_that_is_empty(self):
        with pytest.raises(SealError, match="are not encrypted"):
            EncryptedSerializer(Reversed()).open(b"", HERE)

    def test_gives_no_digests(self):
        with pytest.raises(TypeError, match="gives no key"):
            EncryptedSerializer(Reversed()).digest(b"x")

    def test_is_bound_to_a_place_as_well(self):
        serde = EncryptedSerializer(Reversed())
        sealed = serde.seal(b"x", HERE)

        assert serde.open(sealed, HERE) == b"x"
        with pytest.raises(SealError, match="belong to another row"):
            serde.open(sealed, THERE)

    def test_reports_what_it_raises_as_a_typed_error(self):
        with pytest.raises(SealError, match="could not be opened by Reversed"):
            EncryptedSerializer(Reversed()).loads_typed(("stepwell+aes", b"x"))
