"""Drawing outcomes: targets, their processes, time limits, workers."""
