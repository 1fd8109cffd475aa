/** Requests that the service refuses for their shape: each one that was good, again, without one of its fields. */
import { createChecks, type Checks } from './checks.ts'
import { child, operationsOf, resolved, type Json } from './description.ts'
import type { Exchange } from './traffic.ts'

/** One request for each thing that the description requires; `logins` are those it is taken from. */
export function withoutEachField(description: Json, logins: readonly Exchange[]): Request[] {
  const checks = createChecks(description)
  // Of each kind the last one: it found the emulator as the replay will.
  const kinds = new Map(logins.map((exchange) => [kindOf(exchange, checks), exchange]))
  return [...kinds.values()].flatMap((exchange) => {
    const { met } = checks.request(exchange)
    const schema = child(description, 'components', 'schemas', met[0]?.split(' ').at(-1) ?? '')
    const bodies = met.length === 1 ? withoutFields(schema, exchange) : []
    return [
      ...withoutParameters(description, exchange),
      // What is left of a form may be another form that is described.
      ...bodies
        .filter((body) => checks.request({ ...exchange, body }).met.length === 0)
        .map((body) => again(exchange, { body })),
    ]
  })
}

function kindOf(exchange: Exchange, checks: Checks): string {
  const { method, url } = exchange
  return [method, new URL(url).pathname, ...checks.request(exchange).met].join(' ')
}

/** What no client sends twice: a browser's name, a body too large, one that is compressed; and a grant that is unknown. */
export function outlandish(description: Json, authUrl: string): Request[] {
  const json = { 'content-type': 'application/json' }
  const other = { method: 'POST', body: '{"client_id":"ownerapi","grant_type":"password"}', headers: json }
  const each = operationsOf(description).flatMap(({ method, path }) => {
    const at = `${authUrl}${path}`
    const browser = new Request(at, { method, headers: { 'user-agent': 'Mozilla/5.0 Firefox/140.0' } })
    if (method === 'GET') return [browser]
    return [
      browser,
      new Request(at, { method, body: 'x'.repeat(65_537) }),
      new Request(at, { method, body: '{}', headers: { ...json, 'content-encoding': 'gzip' } }),
    ]
  })
  return [new Request(`${authUrl}/oauth2/v3/token`, other), ...each]
}

function withoutParameters(description: Json, exchange: Exchange): Request[] {
  const { method, url, headers } = exchange
  const operation = operationsOf(description).find((it) => it.method === method && it.path === new URL(url).pathname)
  const required = Object.values(child(operation?.node ?? {}, 'parameters'))
    .map((parameter) => resolved(description, '', parameter as Json).node)
    .filter((parameter) => parameter['required'] === true)
  return required.map((parameter) => {
    const name = String(parameter['name'])
    const lacking = new URL(url)
    lacking.searchParams.delete(name)
    const cookies = (headers.cookie ?? '').split('; ').filter((pair) => !pair.startsWith(`${name}=`))
    return again(exchange, { url: lacking.href, cookie: cookies.join('; ') })
  })
}

/** The body without each of the fields that the schema requires. */
function withoutFields(schema: Json, { headers, body }: Exchange): string[] {
  const required = Object.values(child(schema, 'required')).map(String)
  if (headers['content-type']?.startsWith('application/json')) {
    const fields = Object.entries(JSON.parse(body) as Json)
    return required.map((name) => JSON.stringify(Object.fromEntries(fields.filter(([own]) => own !== name))))
  }
  const fields = [...new URLSearchParams(body)]
  return required.map((name) => new URLSearchParams(fields.filter(([own]) => own !== name)).toString())
}

interface Changes {
  readonly url?: string
  readonly cookie?: string
  readonly body?: string
}

function again({ method, url, headers, body }: Exchange, changes: Changes): Request {
  const { cookie = headers.cookie ?? '' } = changes
  const type = { 'content-type': headers['content-type'] ?? '' }
  const sent = changes.body ?? body
  return new Request(changes.url ?? url, {
    method,
    redirect: 'manual',
    headers: { ...(cookie && { cookie }), ...(sent && type) },
    ...(sent && { body: sent }),
  })
}
