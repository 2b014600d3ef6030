"""The chapter after Cesar and Rogers (2020): composition of pure, bounded-range and concentrated mechanisms."""
