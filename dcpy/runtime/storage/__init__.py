"""Storage of compiled programs: the cache on disk, its records, and the safety of its folder."""
