"""The front door: joins the packages' commands, and the few commands that span packages."""
