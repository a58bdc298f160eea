"""minductor lowering."""
