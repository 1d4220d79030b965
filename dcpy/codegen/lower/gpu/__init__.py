"""Lowering for GPUs: kernels from maps on grids and blocks, their launches, and transfers between memories.

Kernels: `kernel_functions` (read it first), `thread_blocks`, `launch_geometry`, `kernel_context`, `barrier_insertion`.
Memory: `device_buffers`, `atomic_sums`. The host's side: `device_entries`, `transfers`, `host_synchronization`,
`check_deferral`, `pending_waits`, `graph_capture`.
Faster text: `read_only_pointers`, `vector_accesses`, and 32-bit indices by `interval_analysis`, `index_narrowing`,
`kernel_versioning`.
"""
