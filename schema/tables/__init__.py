"""The tables, their functions and schema `mart`: the definitions, and how a database gets them."""
