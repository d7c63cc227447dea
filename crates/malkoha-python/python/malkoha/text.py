"""Removes duplicates from texts: equal ones, similar ones, and repeated paragraphs.

    >>> from malkoha.text import Deduplicator
    >>> seen = Deduplicator(near=0.8)
    >>> seen.keep(["A koel calls at dawn, all summer.", "A wren.", "a koel calls, at dawn all summer"])
    array([ True,  True, False])
"""

from ._malkoha import Deduplicator

__all__ = ["Deduplicator"]
