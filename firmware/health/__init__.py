"""Health checks of the box: each has a figure, a verdict and advice."""
