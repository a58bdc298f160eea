"""Kernels and bytes of minductor beside TorchInductor, by one accountant."""
