"""What the commands print; each calls the API and shows what it returns."""
