"""Archives and their sources, as the warehouse keeps them, and what people say of them."""
