"""Ranks as a target: the network, passes and measurements; and checks of messages. Run time: `runtime.distributed`."""
