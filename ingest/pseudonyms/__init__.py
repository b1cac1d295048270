"""Names of people, machines and files, hidden before anything is written of them; keys and hashes."""
