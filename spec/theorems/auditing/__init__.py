"""Auditing by betting: why the black-box test may stop whenever it likes."""
