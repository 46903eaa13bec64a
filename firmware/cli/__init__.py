"""The command line: the commands that run, test and maintain the appliance."""
