"""Passes from `kernel` to `kernel`: schedule and memory."""
