"""Benchmarks: minductor beside TorchInductor, eager and the measured limit of the machine."""
