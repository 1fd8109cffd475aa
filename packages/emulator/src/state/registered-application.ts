/**
 * The application that was registered at the official kind of service (option `service: registered`), and what such a service wants of
 * its requests: a form, the application's secret, and at an exchange the owner API that the tokens are for.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Fields } from '../http/service-request.ts'
import type { EmulatorSettings } from '../options/options.ts'
import { isLenient, isRegistered } from './strictness.ts'

type Application = Pick<EmulatorSettings, 'service' | 'clientId' | 'clientSecret' | 'strictness'>

/** The only client of any other kind of service. */
const documentClient = 'ownerapi'

export function clientIdOf(settings: Application): string {
  return isRegistered(settings) ? settings.clientId : documentClient
}

/** Whether the requests are the application's own. By their time nobody tells how much of a secret is right. */
export function isClient(settings: Application, fields: Fields): boolean {
  if (!isRegistered(settings)) return fields.get('client_id') === documentClient
  // Strangers' applications leave it out of a refresh.
  const isLeftOut = isLenient(settings) && fields.get('grant_type') === 'refresh_token' && !fields.has('client_secret')
  const secret = isLeftOut ? settings.clientSecret : fields.get('client_secret')
  return isSame([fields.get('client_id'), secret], [settings.clientId, settings.clientSecret])
}

function isSame(...texts: readonly [unknown, unknown]): boolean {
  const [one, other] = texts.map((text) => createHash('sha256').update(JSON.stringify(text)).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}
