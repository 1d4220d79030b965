"""Cost models of processors: how long loop nests take. For decisions, never for legality.

`work_estimates` counts what a map computes, in any sizes. For given sizes, `counted_nests` has a nest in numbers;
`core_time`, `dependence_chains` and `cache_lines` are the times of its operations, waits and memory, and `nest_time`
puts them together (roofline).
"""
