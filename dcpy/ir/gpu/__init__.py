"""GPUs, in the terms of the IR: costs and limits by which passes decide and rules of verification refuse."""
