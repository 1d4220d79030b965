"""Groups of options: what can be set for each target of dcpy's, in a module each."""
