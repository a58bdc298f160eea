"""Random programs through `torch.compile(backend="minductor")`, against eager (CONTRIBUTING.md).

python -m minductor.tools.fuzz --n 2000 --seed 0
"""
