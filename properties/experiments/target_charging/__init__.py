"""The experiments on target charging (Cohen and Lyu 2023), which has none of its own."""
