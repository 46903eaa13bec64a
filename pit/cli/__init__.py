"""The commands of `feltwatch pit`."""
