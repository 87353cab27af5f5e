"""The encrypting serializer."""

from stepwell.serde.encrypted import AesGcmCipher, EncryptedSerializer

__all__ = ["EncryptedSerializer", "AesGcmCipher"]
