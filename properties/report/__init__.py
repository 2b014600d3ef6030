"""The whole run as one page: what the lines of the other commands say, counted and written as HTML."""
