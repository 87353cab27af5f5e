"""Reading: a stored row and its items become a Loaded whose values are decoded when they are asked for.

`Items.run(log, start, stop)` gives the bytes of a run; a storage hands in what it has read, or its own dicts.
`open_row(stager, row, items, *, at, pending, done, leaf, head, last_id, fence, tips) -> Loaded`
`open_nothing(stager, at, *, head, last_id, fence) -> Loaded`   (step -2)
`open_task(codec, task: StoredTask, items) -> TaskRecord`       (writes are decoded when they are asked for)
"""
