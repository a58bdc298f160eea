"""minductor passes."""
