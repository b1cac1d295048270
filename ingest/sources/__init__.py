"""Archives and their sources as the warehouse stores them, and what people record about them."""
