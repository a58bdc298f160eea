"""minductor interpreters."""
