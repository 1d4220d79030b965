"""A pytest plug-in: parallel maps start their team however small they are, so that tiny tests run threads."""

from dcpy.transforms.cpu import settle_schedules

settle_schedules.THREADS_PAY_ABOVE = 0
