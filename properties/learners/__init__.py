"""Learners: from past calls, predict which side an outcome came from."""
