"""The table on a laptop: one webcam, no puck reader, no panel."""
