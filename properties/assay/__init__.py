"""The conformance suite: laws for other people's mechanisms, accountants and calibrators, and what was found."""
