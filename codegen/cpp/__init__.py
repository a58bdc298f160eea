"""C++ with OpenMP: kernels of the `kernel` dialect as one self-contained translation unit."""
