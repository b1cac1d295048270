"""The views and functions of schema `mart`. mart.pyi, written by `make docs`, shows them to editors."""

from tapewise.mart_calls import MartCalls


class Mart(MartCalls):
    """Has a method for each view and function of `mart`, which returns a polars frame."""
