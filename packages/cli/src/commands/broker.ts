/** `owner-sso broker`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { flag, type OptionsOf, value } from '../command-line/option.ts'

/** Where it listens. */
const listening = {
  port: value('<number>', 'listen on a port, for programs that were invited'),
  host: value('<address>', 'with --port: where to listen (default: 127.0.0.1; another one needs TLS)'),
  socket: value('<path>', 'the Unix socket (default: one that only you can open)'),
  tlsCert: value('<path>', 'PEM file of the certificate'),
  tlsKey: value('<path>', 'PEM file of its key'),
  behindTlsProxy: flag('a proxy with TLS is in front, and nobody else reaches this port'),
}

/** Where people and programs find it. */
const addressing = {
  publicUrl: value('<url>', 'the address that people and programs use, if it is another one'),
}

/** Where the list of programs is. */
const keeping = {
  clients: value('<path>', 'keep the list of programs in a file (default: in the store)'),
}

/** What it does for them. */
const serving = {
  withProxy: flag('forward calls of the owner API as well, for programs invited with --scope proxy'),
  rotate: flag('give programs another refresh token with each use'),
  audit: value('<path>', 'append who got which token, a line of JSON each (- is standard error)'),
}

/** Whom it tells that an account has to sign in again. */
const alerting = {
  alertWebhook: value('<url>', 'tell there if an account has to sign in again'),
  alertCommand: value('<path>', 'run this program then'),
  alertMqtt: value('<url>', 'tell this MQTT server then'),
  alertTopic: value('<topic>', 'below which MQTT topic (default: owner-sso)'),
}

/** What a program may do. */
const inviting = {
  scope: value('<name>', 'invite: token, proxy, or both with a comma (default: token)'),
  expires: value('<when>', 'invite: for how long (30d, 12h), or until a date (2030-01-31)'),
  callsPerMinute: value('<number>', 'invite: how often it may call, each broker counting for itself (default: 600)'),
}

/** How a program comes to its new token. */
const rotating = {
  grace: value('<seconds>', 'rotate: how long the former refresh token still works (default: 0)'),
}

export const broker = command({
  name: 'broker',
  args: '[what...]',
  summary: 'hand tokens to other programs, from one sign-in',
  description:
    'Alone, it listens and hands access tokens to programs: on a Unix socket that only you can open, or with ' +
    '--port on 127.0.0.1, for programs with a key, and with a status page. invite NAME lets a program in and ' +
    'prints its refresh token, once. list, rotate NAME and revoke NAME are about those programs. code prints a ' +
    'code for the status page.',
  options: { ...listening, ...addressing, ...keeping, ...serving, ...alerting, ...inviting, ...rotating },
  examples: [
    ['owner-sso broker', 'then: curl --unix-socket ~/.config/owner-sso/broker.sock http://broker/token'],
    ['owner-sso broker --port 8700', 'with a status page'],
    ['owner-sso broker invite heating --expires 365d', 'prints its refresh token'],
    ['owner-sso broker revoke heating', 'it gets nothing any more'],
  ],
})

export type ListenFlags = OptionsOf<typeof listening>
export type AddressFlags = OptionsOf<typeof addressing>
export type ClientsFlags = OptionsOf<typeof keeping>
export type AlertFlags = OptionsOf<typeof alerting>
