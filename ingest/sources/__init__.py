"""Archives and their sources as the warehouse stores them, and the facts that people record about them."""
