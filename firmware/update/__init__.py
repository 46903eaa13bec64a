"""Files that somebody signed elsewhere: repositories of The Update Framework, written and verified."""
