"""Adapters for other people's libraries, and the worker process that each of them runs in."""
