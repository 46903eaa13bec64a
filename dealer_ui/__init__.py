"""The dealer's page: a Flask application that shows the record live and sends what the dealer touches."""
