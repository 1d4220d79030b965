"""Library nodes, how they expand, and what they link: vertical slices that code generation never hears of."""
