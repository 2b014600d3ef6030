"""What runs in the interpreter of another auditor: needs numpy, scipy and the auditor."""
