"""What every route uses: who may come in, sessions, commands, services."""
