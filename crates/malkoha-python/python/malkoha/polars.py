"""Polars expressions on filters: ``import malkoha.polars``, then ``pl.col("url").malkoha``.

They work in eager and lazy queries. Columns are handed over without a copy.
"""

import polars as pl

from . import CuckooFilter

__all__ = ["Malkoha"]


@pl.api.register_expr_namespace("malkoha")
class Malkoha:
    """The methods of ``pl.col(...).malkoha``."""

    def __init__(self, expr: pl.Expr):
        self._expr = expr

    def is_in(self, keys: CuckooFilter) -> pl.Expr:
        """Whether each value is in the filter; false for nulls.

        It is computed row by row, so that queries push it down and stream it.
        """
        return self._map(keys.contains_many, is_elementwise=True)

    def first_seen(self, seen: CuckooFilter) -> pl.Expr:
        """Whether each value is new to the filter, to which it is added; false for nulls.

        Running the query changes the filter: a second run finds nothing new. Rows are taken in their
        order, and of equal values the first is new. About the filter's ``fpr`` of new values are
        taken for seen.
        """
        return self._map(seen.add_unique_many, is_elementwise=False)

    def count(self, keys: CuckooFilter) -> pl.Expr:
        """The number of copies of each value that the filter has, as UInt64; 0 for nulls."""
        return self._map(keys.count_many, is_elementwise=True, dtype=pl.UInt64)

    def _map(self, answers, *, is_elementwise, dtype=pl.Boolean):
        return self._expr.map_batches(
            lambda column: pl.Series(column.name, answers(column), dtype=dtype),
            return_dtype=dtype,
            is_elementwise=is_elementwise,
        )
