"""Play and replay one match."""
