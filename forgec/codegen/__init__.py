"""From plans to the files of a package."""
