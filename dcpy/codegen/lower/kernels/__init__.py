"""Programs for a device: kernels from maps on grids and blocks, their launches, and transfers between memories."""
