"""Objects: dataclasses and their methods, special methods, random generators."""
