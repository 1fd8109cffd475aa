/**
 * The options of every command.
 */
import { addressForms } from '../stores/store-kinds.ts'
import { flag, off, type OptionsOf, value, values } from './option.ts'

export const sharedOptions = {
  account: value('<e-mail>', 'whose tokens (default: the only account there)'),
  authUrl: value('<url>', 'base address of the SSO service'),
  regionalAuthUrl: values('<url>', 'a regional instance to allow; can be repeated'),
  service: value('<name>', 'document (default), or current: today’s service'),
  apiUrl: value('<url>', 'base address of the owner API'),
  store: value('<address>', addressForms()),
  ca: value('<path>', 'PEM file of a private CA to trust'),
  proxy: value('<url>', 'an outbound proxy (http or https) to go through'),
  transport: value('<name>', 'document, modern, tls13-http1, tls12-http2, or JSON'),
  redirectUri: value('<uri>', 'the redirect address that the service knows'),
  keyring: off('leave the keyring of this machine alone'),
  json: flag('print JSON; notes and a failure are lines of JSON'),
  input: off('never ask; fail if something is missing'),
  force: flag('run even if NODE_DEBUG would print secrets'),
}

export type SharedOptions = OptionsOf<typeof sharedOptions>
