"""TSV: tables of text with tabs between values."""

from .csv import delimited

FORMAT = delimited("tsv", "\t")
