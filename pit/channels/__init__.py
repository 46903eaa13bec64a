"""Channels: a release goes to the tables of one channel after another, moved on by people; what fails stops it."""
