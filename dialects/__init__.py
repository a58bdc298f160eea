"""minductor dialects."""
