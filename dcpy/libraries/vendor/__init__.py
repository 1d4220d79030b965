"""The vendors' libraries of GPUs: cuBLAS, cuSOLVER, cuFFT, and those of AMD's with the same functions."""
