"""Whole programs: one C file per SDFG, its functions, and the C ABI around them.

Read `translation_unit` first; `c_parameters` has those of a function, `c_abi` the entries for the runtime and for C,
`function_merging` shares functions that compute the same.
"""
