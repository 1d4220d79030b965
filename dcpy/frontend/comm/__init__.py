"""The local view: what ranks say to each other in programs, in the words of ``dcpy.comm``."""
