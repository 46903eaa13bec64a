"""Printed and counted output: PDFs, shift reports, slips."""
