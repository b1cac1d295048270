"""Archives and their sources as stored in the warehouse, and the facts that people record about them."""
