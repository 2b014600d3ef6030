"""The example package is run by a test, not collected."""

collect_ignore = ["noisycounts"]
