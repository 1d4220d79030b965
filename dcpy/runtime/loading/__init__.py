"""Loading of compiled programs: shared libraries, their lifetime, and bundles. Read `load` first."""
