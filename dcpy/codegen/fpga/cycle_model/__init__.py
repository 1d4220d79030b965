"""The cycle model: how long hardware runs, without a simulation.

Read `process_time`, then `network_time`, `program_time`. `token_bursts`, `guarded_iterations` and `token_trace` say
when a process pushes and pops; `network_simulation` follows every token of a small network, `deadlock_detection` asks
it. `integer_evaluation` knows sizes, `resources` counts operators and memories.
"""
