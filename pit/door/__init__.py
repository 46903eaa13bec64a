"""The door: what tables send is received, verified and stored; tables are enrolled."""
