"""The demo's /sim page, to control the simulated room. `feltwatch run` and `feltwatch ui` do not use it.

`room` runs in the demo's process and executes the orders; `page` and `serve` run in the page's process.
"""
