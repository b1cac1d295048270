"""Who may do what: the roles of the server and the logins that are members of them."""
