"""Target charging (Cohen and Lyu 2023): targets, their qualities, and what it costs to hit them."""
