"""Other libraries' games, environments, agents and tables: one file a library, which is imported when it is named."""
