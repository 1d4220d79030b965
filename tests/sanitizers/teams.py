"""A pytest plug-in: parallel maps start their team however small they are, so that tiny tests run threads."""

from dcpy.ir.machine import COSTS

object.__setattr__(COSTS, "threads_pay_above", 0)  # frozen, but for this
