"""Passes on the `loop` level: normal form, inlining, fusion."""
