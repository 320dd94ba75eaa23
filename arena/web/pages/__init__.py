"""Pages: functions from a library, links and what an address asks for to HTML."""
