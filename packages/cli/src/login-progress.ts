/**
 * The steps of a login as they happen, for a person who watches. They are read off Node's own announcement of each request,
 * so the flow itself knows nothing of it.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'

const channel = 'http.client.request.start'

/** Endpoints of the interface document by method and the end of their path. */
const steps: readonly (readonly [method: string, path: RegExp, step: string])[] = [
  ['GET', /\/oauth2\/v3\/authorize$/u, 'Opening the login page'],
  ['POST', /\/oauth2\/v3\/authorize$/u, 'Sending the login form'],
  ['POST', /\/oauth2\/v3\/token$/u, 'Exchanging the code for tokens'],
  ['GET', /\/authorize\/mfa\/factors$/u, 'Asking for the second factors'],
  ['POST', /\/authorize\/mfa\/verify$/u, 'Verifying the passcode'],
  ['POST', /\/authorize\/mfa\/backupcodes\/attempt$/u, 'Verifying the backup code'],
]

/** Calls `show` with the name of each step until `login` has ended. */
export async function withProgress<Result>(
  show: (step: string) => void,
  login: () => Promise<Result>,
): Promise<Result> {
  const listener = (message: unknown): void => {
    const step = stepOf(message)
    if (step !== undefined) show(step)
  }
  subscribe(channel, listener)
  try {
    return await login()
  } finally {
    unsubscribe(channel, listener)
  }
}

function stepOf(message: unknown): string | undefined {
  const { method, path } = requestOf(message)
  const name = path.replace(/\?.*$/u, '')
  return steps.find(([verb, ending]) => verb === method && ending.test(name))?.[2]
}

function requestOf(message: unknown): { method: string; path: string } {
  const request = property(message, 'request')
  return { method: String(property(request, 'method')), path: String(property(request, 'path')) }
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
