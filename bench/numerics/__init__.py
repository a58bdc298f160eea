"""How accurate compiled code is, beside eager, against a reference of twice the precision."""
