"""Programs on ranks: collective calls, distribution, and fallbacks. Read `collective_calls` first."""
