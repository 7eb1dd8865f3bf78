"""The fonts inside PDFs, each read and cut to its letters once for all files of a process."""

import io
import string
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from matplotlib.backends import _backend_pdf_ps as backend
from matplotlib.font_manager import get_font

LETTERS = string.printable + "αβγεηθρσΘ−–±×…≤∑‖⟨⟩\N{COMBINING CIRCUMFLEX ACCENT}ﬀﬁﬂﬃﬄ"
UNUSED_TABLES = (
    *("GDEF", "GPOS", "GSUB", "MATH", "kern", "kerx", "morx"),
    *("FFTM", "BDF", "PfEd", "meta"),
)
"""How programs place glyphs, which a PDF says of each one, and notes of editors."""


@contextmanager
def shared_fonts() -> Iterator[None]:
    """Within it, fonts in PDFs have all `LETTERS`, so that most files share the same ones.

    To cut a font to the glyphs of one file takes matplotlib longer than to draw the file. Versions
    that name glyphs otherwise do as they always did.
    """
    original = backend.get_glyphs_subset
    if hasattr(backend, "SubsetResults"):
        backend.get_glyphs_subset = _with_letters
    try:
        yield
    finally:
        backend.get_glyphs_subset = original


def _with_letters(
    fontfile: Any, glyphs: Iterable[int]
) -> "AbstractContextManager[backend.SubsetResults]":
    """A font with the glyphs and the letters, and the new place of every glyph, for matplotlib."""
    content, places = _cut(fontfile, _letters(fontfile).union(glyphs))
    font = TTFont(io.BytesIO(content), recalcTimestamp=False)
    return nullcontext(backend.SubsetResults(font, places))


@cache
def _letters(path: Any) -> frozenset[int]:
    font = get_font(path)
    return frozenset(font.get_char_index(ord(letter)) for letter in LETTERS)


@cache
def _cut(path: Any, glyphs: frozenset[int]) -> tuple[bytes, dict[int, int]]:
    options = subset.Options(recommended_glyphs=True, font_number=path.face_index)
    options.drop_tables += UNUSED_TABLES
    cutter = subset.Subsetter(options)
    cutter.populate(gids=glyphs)
    content = io.BytesIO()
    with subset.load_font(path, options) as font:
        cutter.subset(font)
        font.save(content, reorderTables=False)
    return content.getvalue(), cutter.glyph_index_map
