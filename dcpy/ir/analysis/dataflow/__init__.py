"""Dataflow analysis: definitions and uses, aliases, effects, and what is known of values.

Names and memory: `name_resolution`, `aliasing`, `def_use` (read it first), `opaque_handles`.
Effects: `effect_analysis` of nodes and callees, `summaries` of everything inside of an element.
Definitions: `definite_assignment`, `entry_symbols`.
Values: `branch_facts` and `checked_facts` (what conditions and checks imply), `value_ranges` (what is known at a
place), `value_numbering` (which nodes compute the same), `array_contents` (what an element is equal to).
"""
