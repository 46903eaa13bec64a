"""The demo's /sim page: a person's hands in the simulated room. `feltwatch run` and `feltwatch ui` know nothing of it.

`room` belongs to the demo's process and does what is ordered, `page` and `serve` to the process of its page.
"""
