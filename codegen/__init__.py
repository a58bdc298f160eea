"""minductor codegen."""
