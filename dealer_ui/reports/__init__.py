"""What is printed or counted: PDFs, shift reports, slips."""
