"""The record of past hands: the journal, its verification, the archive, backups, retention, dispute files, reports."""
