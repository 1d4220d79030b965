"""Lowering for FPGAs: processes, pipelines and memory on the chip.

Processes: `process_kernels` (read it first), `channel_kernels`, `device_unit`, `vector_tokens`, `process_checks`,
`library_calls`.
Pipelines: `loop_coalescing`, `pipeline_recurrences`, `pipeline_depths`, `dependence_pragmas`. Memory:
`array_partitioning`. The text: `local_names`, `source_cleanup`.
"""
