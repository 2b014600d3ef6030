"""The experiments of Cesar and Rogers (2020)."""
