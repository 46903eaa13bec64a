"""What is kept of past hands: the archive, backups, retention, dispute files and reports."""
