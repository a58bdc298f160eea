"""Passes on `aten`: graph to graph."""
