/**
 * What `owner-sso --help` says after the commands and options.
 */

import { settingRows, ownVariables } from '../settings/setting-table.ts'

const environment = Object.entries(ownVariables)
  .map(([name, help]) => `  ${name.padEnd(30)} ${help}`)
  .join('\n')

const settings = settingRows
  .map(([name]) => name.padEnd(22))
  .join('')
  .replaceAll(/(.{1,66})/gu, (row) => `    ${row.trimEnd()}\n`)
  .trimEnd()

export const afterHelp = `
Environment:
${environment}
  NO_COLOR                       no colours
  Proxies of the environment (HTTPS_PROXY and the like) are not used.

Files:
  ~/.config/owner-sso/config.json  settings:
${settings}
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
