"""The programs that run on the box: rules, table, devices, application."""
