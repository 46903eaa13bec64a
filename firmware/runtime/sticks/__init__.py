"""What root's programs do with a USB stick."""
