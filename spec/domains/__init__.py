"""The sets over which statements quantify, and the objects in them."""
