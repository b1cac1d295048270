"""`tapewise report`: what logs or an archive say, as text, as JSON, or as one HTML file."""
