"""Ways to prove a statement for all parameters, or for a box of them."""
