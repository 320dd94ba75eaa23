"""The arena in a browser: pages about tournaments, and the server of `arena serve`.

A page is a function in `arena.web.pages` from a `LogCatalog` (the tournaments under a home folder), a `Links` (which
makes every address on the page) and what the address asks for, to a `Page` of HTML. It knows no server: with other
links the same functions write plain files. `arena.web.app` maps addresses to pages, `arena.web.safety` decides what is
answered at all, `arena.web.event_streams` tells open pages what has changed. Whatever takes long is computed in a
process of its own (`arena.web.compute_process`), once for all who ask, and kept as long as the log does not change
(`arena.web.result_cache`).
"""
