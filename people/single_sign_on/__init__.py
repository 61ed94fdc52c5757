"""Sign-in through an OpenID Connect provider: imported only where one is configured."""
