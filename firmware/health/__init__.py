"""Is the box well? Each check with a figure, a verdict and what to do."""
