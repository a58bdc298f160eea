"""From fused groups to kernels and a host program."""
