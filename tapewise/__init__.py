"""The front door: collects the commands of all packages, and adds the few that span packages."""
