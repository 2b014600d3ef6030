"""The conformance suite: laws for the mechanisms, accountants and calibrators of libraries, and the findings."""
