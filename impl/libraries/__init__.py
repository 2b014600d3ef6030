"""Adapters for libraries, and the worker process in which each of them runs."""
