"""A campaign on a GPU that is there for minutes: ``python -m benchmarks.device_campaign``.

Steps in order of worth (`plan`), each a list of tasks with limits of their own (`steps`), each kept in a JSON file that
is whole at any moment (`store`). Tasks are questions to processes (`residents`, `answering`) or commands (`tasks`).
"""
