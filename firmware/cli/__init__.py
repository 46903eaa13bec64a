"""What wires the appliance: the table process, the reading process, simulation, configuration, the command line."""
