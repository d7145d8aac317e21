"""Stands in for torch during `pytest --quick`, in the tests and in all processes that they start."""

raise RuntimeError("torch was imported in a quick run: mark the test, or its folder in tests/suite.py, as torch")
