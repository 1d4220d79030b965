"""On which GPU the tests of programs run: a simulated one, or the one that is there (`pytest --gpu-backend cuda`)."""

#: an option of programs, `gpu_backend`
BACKEND = "simulator"
