"""Printing of kernels as Triton source."""
