"""Attacks that recover the data from answers with too little noise."""
