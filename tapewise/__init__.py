"""The front door: joins the rooms' commands, and the few commands that span rooms."""
