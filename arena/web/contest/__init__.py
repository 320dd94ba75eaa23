"""Pages and interface of contests: accounts, handing in, standings, organising."""
