"""Pages: functions from a catalog, links and what an address asks for to HTML."""
