/**
 * The application that was registered at the official kind of service (option `service: registered`), and what such a service wants of
 * its requests: a form, the application's secret, and at an exchange the owner API that the tokens are for.
 */
import type { Fields } from '../http/service-request.ts'
import type { EmulatorSettings } from '../options/options.ts'
import { isLenient, isRegistered } from './strictness.ts'

type Application = Pick<EmulatorSettings, 'service' | 'clientId' | 'clientSecret' | 'strictness'>

/** The document knows one client alone. */
export function clientIdOf(settings: Application): string {
  return isRegistered(settings) ? settings.clientId : 'ownerapi'
}

/** Whether a request is the client's own. */
export function isClient(settings: Application, fields: Fields): boolean {
  if (fields.get('client_id') !== clientIdOf(settings)) return false
  // Strangers' applications leave the secret out of a refresh.
  const mayLeaveOut =
    isLenient(settings) && fields.get('grant_type') === 'refresh_token' && !fields.has('client_secret')
  return !isRegistered(settings) || mayLeaveOut || fields.get('client_secret') === settings.clientSecret
}
