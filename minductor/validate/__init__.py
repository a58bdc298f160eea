"""The judge of a compile: every level in its interpreter, on the inputs of real calls.

`MINDUCTOR_VALIDATE=1`, or the option `validate`. See docs/validate.md.
"""
