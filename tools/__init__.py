"""minductor tools."""
