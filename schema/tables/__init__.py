"""The tables, the functions beside them and schema `mart`: as definitions, and how a database gets them."""
