"""minductor runtime."""
