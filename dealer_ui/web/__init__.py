"""What every route uses: authorization, sessions, commands, services."""
