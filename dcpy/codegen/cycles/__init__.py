"""The cycle model: how long hardware runs, without a simulation. Read `processes`, then `networks`, `hosts`."""
