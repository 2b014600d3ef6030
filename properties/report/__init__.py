"""The whole run as one page: the records of the other commands, counted and written as HTML."""
