"""Publishing: a site, its versions and previews of pull requests, put together into one folder."""
