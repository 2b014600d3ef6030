"""Pairs of neighbouring inputs."""
