"""Pages as single files: everything a page needs is inside it, and it loads nothing."""
