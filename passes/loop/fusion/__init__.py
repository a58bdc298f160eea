"""The parts of `loop-fuse`: graph, legality, price, rounds, rewriting, plan."""
