"""A pytest plug-in: parallel maps start their team however small they are, so that tiny tests run threads."""

from dcpy.codegen.lower import maps

maps.THREADS_PAY_ABOVE = 0
