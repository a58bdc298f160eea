"""Printer of the host program: `func.func @call` as Python source."""
