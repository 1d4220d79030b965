"""The command line: ``dcpy`` (main.py) and ``sdfgcc`` (sdfgcc.py). The only place that prints."""
