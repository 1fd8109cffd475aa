/**
 * What `owner-sso --help` says after the commands and options.
 */

export const afterHelp = `
Environment:
  OWNER_SSO_AUTH_URL            as --auth-url
  OWNER_SSO_SERVICE             as --service
  OWNER_SSO_REGIONAL_AUTH_URLS  as --regional-auth-url, separated by commas or spaces
  OWNER_SSO_TOKEN_URL           the token endpoint's host, if it is another; JSON with regions
  OWNER_SSO_API_URL             as --api-url
  OWNER_SSO_STORE               as --store; may hold a password, which --store may not
  OWNER_SSO_ACCOUNT             as --account, and the e-mail to sign in with
  OWNER_SSO_CREDENTIAL          the password to sign in with
  OWNER_SSO_TOTP_SECRET         the secret to make passcodes from
  OWNER_SSO_ENCRYPTION_KEY      32 bytes in base64: what is stored is encrypted
  OWNER_SSO_CA                  as --ca
  OWNER_SSO_PROXY               as --proxy; may hold a password, which --proxy may not
  OWNER_SSO_TRANSPORT           as --transport
  OWNER_SSO_REDIRECT_URI        as --redirect-uri
  OWNER_SSO_CODE_CHALLENGE_ENCODING
                                hex-digest (the document) or raw-digest (RFC 7636)
  OWNER_SSO_BROWSER             the Chrome, Chromium, Edge or Brave that login --browser starts
  OWNER_SSO_REQUEST_BUDGET      refreshes a minute, of all processes that share the store
  OWNER_SSO_KEYRING             on or off: whether a folder has its key in the keyring
  OWNER_SSO_ALERT_SECRET        what broker --alert-webhook signs with
  OWNER_SSO_ALERT_MQTT_USERNAME, OWNER_SSO_ALERT_MQTT_PASSWORD
                                for broker --alert-mqtt
  NO_COLOR                      no colours
  Proxies of the environment (HTTPS_PROXY and the like) are not used.

Files:
  ~/.config/owner-sso/config.json  settings: authUrl, service, regionalAuthUrls, tokenUrl, apiUrl,
                                   store, account, ca, proxy, transport, redirectUri,
                                   codeChallengeEncoding, requestBudget, keyring
  ~/.config/owner-sso/tokens       the default store; only you can read it
  XDG_CONFIG_HOME moves both.
  ~/.cache/owner-sso               compiled code, with Node 22.1 and newer; XDG_CACHE_HOME moves it

  An option comes before its variable, a variable before the config file.

Exit status:
  0  done
  1  something unexpected
  2  wrong usage or settings
  3  sign in again
  4  wrong password or passcode, a locked account, or a sign-in that you gave up
  5  the service’s firewall blocks this machine for now
  6  the token store
  7  the network, the service, or a refresh that has to wait
  128 and the signal’s number (130 for Ctrl-C) when it was cut short; what runs until it is told
      to stop (keep, proxy, broker, emulator) ends with 0

Examples:
  owner-sso login
  curl -H "Authorization: Bearer $(owner-sso token)" "$OWNER_SSO_API_URL/api/1/products"
  owner-sso login --account ann@example.com --credential-file password.txt
  owner-sso status --json
`
