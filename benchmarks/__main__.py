"""``python -m benchmarks``: the table of figures."""

from benchmarks.spine import main

raise SystemExit(main())
