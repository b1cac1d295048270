"""Who may do what: the server's roles and the logins that are members of them."""
