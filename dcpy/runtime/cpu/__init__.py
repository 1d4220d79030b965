"""CPUs at run time: measured costs."""
