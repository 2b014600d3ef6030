"""Target charging (Cohen and Lyu 2023): targets, their qualities, and the cost of hits."""
