"""The theorems, one topic a file. Importing this package registers every statement."""
