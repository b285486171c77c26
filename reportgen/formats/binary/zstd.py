"""Reading zstd: its bytes as a stream, and whether a file is whole, which a stream does not say."""

from __future__ import annotations

import io
import sys
from typing import IO, TYPE_CHECKING, Final, cast

from reportgen.formats.limits import LARGEST_PART

if TYPE_CHECKING:
    from io import RawIOBase


if sys.version_info >= (3, 14):
    from compression import zstd

    ZstdError = zstd.ZstdError
else:
    import zstandard

    ZstdError = zstandard.ZstdError

MAGIC: Final = b"\x28\xb5\x2f\xfd"
_DICTIONARY_SIZES: Final = (0, 1, 2, 4)
_RUN_LENGTH, _RESERVED = 1, 3


def open_unpacked(file: IO[bytes]) -> IO[bytes]:
    """The decompressed bytes of a file, of all its frames; reading raises ``ZstdError`` where it is damaged.

    A frame that needs a window of more than ``LARGEST_PART`` bytes is refused as damaged.
    """
    if sys.version_info >= (3, 14):
        window = {zstd.DecompressionParameter.window_log_max: LARGEST_PART.bit_length() - 1}
        return zstd.ZstdFile(file, options=window)
    reader = zstandard.ZstdDecompressor(max_window_size=LARGEST_PART).stream_reader(
        file, read_across_frames=True, closefd=False
    )
    return io.BufferedReader(cast("RawIOBase", reader))


def is_whole(file: IO[bytes]) -> bool:
    """Walk over the frames and blocks of a zstd file without decompressing any (RFC 8878, section 3.1)."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    while file.tell() < size:
        magic = file.read(4)
        if magic == MAGIC:
            if not _skip_frame(file):
                return False
        elif magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5:  # noqa: PLR2004 - a frame of another's data
            file.seek(int.from_bytes(file.read(4), "little"), io.SEEK_CUR)
        else:
            return False
    return file.tell() == size


def _skip_frame(file: IO[bytes]) -> bool:
    """Go to the end of a frame; False where something stands there that no frame has."""
    descriptor = int.from_bytes(file.read(1), "little")
    single_segment = descriptor >> 5 & 1
    content_size = (single_segment, 2, 4, 8)[descriptor >> 6]
    window = 1 - single_segment
    file.seek(window + _DICTIONARY_SIZES[descriptor & 3] + content_size, io.SEEK_CUR)
    last = False
    while not last:
        header = file.read(3)
        if len(header) < 3:  # noqa: PLR2004 - a block header has three bytes
            return False
        block = int.from_bytes(header, "little")
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        if kind == _RESERVED:
            return False
        file.seek(1 if kind == _RUN_LENGTH else size, io.SEEK_CUR)
    file.seek(4 * (descriptor >> 2 & 1), io.SEEK_CUR)
    return True
