"""Programs and SDFGs as users hold them: types of calls, guards, versions, signatures, explanations."""
