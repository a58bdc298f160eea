"""The parts of `loop-inline`: what to inline, and the new bodies."""
