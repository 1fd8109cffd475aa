/**
 * The required part of the broker protocol, in the order of its page.
 */
import type { Answer, CallOptions } from './call.ts'
import type { Broker } from './broker.ts'
import { type Check, fieldsOf, requireRejection, requireStatus, requireThat, Unseen } from './finding.ts'

/** No broker has let this one in. */
const unknownKey = 'a-key-that-nobody-has'

/** The first check: a broker that fails it refreshes for each call, so that no more of them may be made. */
export const oneToken: Check = {
  isRequired: true,
  section: 'What a broker promises',
  name: 'gives one token to all who ask at the same time',
  async look(broker) {
    const first = await differentTokens(broker)
    // The token may have become due in between, once.
    const again = first === 1 ? 1 : await differentTokens(broker)
    requireThat(again === 1, `four calls got ${first} tokens, and four more ${again}`)
  },
}

export const required: readonly Check[] = [
  oneToken,
  inSection('What a broker promises', 'counts expires_in down', async (broker) => {
    const [before, after] = await twiceTheSame(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1100))
      return refreshed(broker)
    })
    // As many seconds as have passed, a second more or less: it counts whole ones.
    const counted = Number(before.fields['expires_in']) - Number(after.fields['expires_in'])
    const least = (after.asked - before.answered) / 1000
    const most = (after.answered - before.asked) / 1000
    const isTrue = counted >= Math.floor(least) && counted <= Math.ceil(most)
    requireThat(isTrue, `it counts ${counted} where ${least.toFixed(1)} seconds have passed`)
  }),
  inSection('What a broker promises', 'rejects a revoked key', async (broker) => {
    const { revokedKey } = broker
    if (revokedKey === undefined) throw new Unseen('no second key was given')
    const answers = [await broker.refresh(revokedKey), await broker.token('', bearer(revokedKey))]
    const isServed = answers.some(({ status }) => status === 200)
    requireThat(!isServed, 'it gives a token to the second key, which should be revoked')
    requireKeyRejected(answers)
  }),
  inSection('What a broker promises', 'forbids to keep its answers', async (broker) => {
    for (const { headers } of [await broker.refresh(broker.key), await broker.token()]) {
      requireThat(/\bno-store\b/iu.test(headers['cache-control'] ?? ''), 'an answer has no Cache-Control: no-store')
    }
  }),

  inSection('The token endpoint', 'answers a refresh as the service does', async (broker) => {
    const { headers, fields } = await refreshed(broker)
    requireThat(isOfType(headers, 'application/json'), 'its answer is not of the type application/json')
    const { access_token, refresh_token, expires_in, token_type } = fields
    requireThat(isToken(access_token), 'access_token is no token')
    requireThat(isToken(refresh_token), 'refresh_token is no token')
    requireThat(Number.isInteger(expires_in) && Number(expires_in) > 0, 'expires_in is no whole number above 0')
    requireThat(/^bearer$/iu.test(String(token_type)), 'token_type is not Bearer')
  }),
  inSection('The token endpoint', 'needs no client_id and scope, and ignores other fields', async ({ post, key }) => {
    const fields = { grant_type: 'refresh_token', refresh_token: key, client_secret: null, audience: 'any' }
    requireStatus(await post(JSON.stringify(fields)), 200)
  }),
  inSection('The token endpoint', 'serves a refresh token again whose answer was lost', async (broker) => {
    await refreshed(broker)
    await refreshed(broker)
  }),

  inSection('GET /token', 'answers with the token alone, as text', async (broker) => {
    const answer = await currentToken(broker)
    requireThat(isOfType(answer.headers, 'text/plain'), 'its answer is not of the type text/plain')
    requireThat(isToken(answer.body), 'its answer is more than a token')
  }),
  inSection('GET /token', 'has an ETag that stays while the token does', async (broker) => {
    const tags = (await twiceTheSame(() => currentToken(broker))).map(({ headers }) => opaque(headers.etag))
    requireThat(!tags.includes(undefined), 'an answer has no ETag')
    requireThat(tags[0] === tags[1], 'one token has two of them')
  }),
  inSection('GET /token', 'answers 304 to that ETag, and to no other', async (broker) => {
    requireStatus(await broker.token('', { 'if-none-match': '"another"' }), 200)
    const { etag = '' } = (await currentToken(broker)).headers
    requireStatus(await broker.token('', { 'if-none-match': etag }), 304)
  }),

  inSection('Errors', 'says invalid_grant to an unknown refresh token', async (broker) => {
    requireRejection(await broker.refresh(unknownKey), 400, 'error', 'invalid_grant')
  }),
  inSection('Errors', 'says unsupported_grant_type to another grant', async (broker) => {
    const answer = await broker.post(JSON.stringify({ grant_type: 'password', client_id: 'ownerapi' }))
    requireRejection(answer, 400, 'error', 'unsupported_grant_type')
  }),
  inSection('Errors', 'says invalid_request to a body that it can’t read', async (broker) => {
    requireRejection(await broker.post('['), 400, 'error', 'invalid_request')
  }),
  inSection('Errors', 'says ERR_BROKER_UNKNOWN_KEY to an unknown key, and names the scheme', async (broker) => {
    const answer = await broker.token('', bearer(unknownKey))
    requireRejection(answer, 401, 'code', 'ERR_BROKER_UNKNOWN_KEY')
    requireThat(/^bearer/iu.test(answer.headers['www-authenticate'] ?? ''), 'it has no WWW-Authenticate: Bearer')
  }),
  inSection('Errors', 'gives a code with every rejection', async (broker) => {
    const answer = await broker.call('/no-such-path')
    requireThat(answer.status === 404, `it answers ${answer.status} to a path that is none, not 404`)
    requireThat(/^[A-Z][A-Z\d_]*$/u.test(String(fieldsOf(answer)['code'])), 'its 404 has no code')
  }),
]

function inSection(section: string, name: string, look: Check['look']): Check {
  return { isRequired: true, section, name, look }
}

/** How many four calls get that are made at the same time. */
async function differentTokens(broker: Broker): Promise<number> {
  const tokens = await Promise.all([
    ...[1, 2].map(async () => (await refreshed(broker)).token),
    ...[1, 2].map(async () => (await currentToken(broker)).token),
  ])
  return new Set(tokens).size
}

interface Refreshed extends Answer {
  readonly fields: Readonly<Record<string, unknown>>
  readonly token: unknown
  /** Milliseconds since some time. */
  readonly asked: number
  readonly answered: number
}

async function refreshed(broker: Broker): Promise<Refreshed> {
  const asked = performance.now()
  const answer = await broker.refresh(broker.key)
  const answered = performance.now()
  requireStatus(answer, 200)
  const fields = fieldsOf(answer)
  return { ...answer, fields, token: fields['access_token'], asked, answered }
}

async function currentToken(broker: Broker): Promise<Answer & { readonly token: unknown }> {
  const answer = await broker.token()
  requireStatus(answer, 200)
  return { ...answer, token: answer.body }
}

/** Two answers with one token, which may become due in between once. @throws Unseen */
async function twiceTheSame<Given extends { readonly token: unknown }>(
  ask: () => Promise<Given>,
): Promise<[Given, Given]> {
  const [first, second] = [await ask(), await ask()]
  if (first.token === second.token) return [first, second]
  const third = await ask()
  if (second.token === third.token) return [second, third]
  throw new Unseen('its token changes too often')
}

function requireKeyRejected([refresh, token]: readonly Answer[]): void {
  if (refresh !== undefined) requireRejection(refresh, 400, 'error', 'invalid_grant')
  if (token !== undefined) requireRejection(token, 401, 'code', 'ERR_BROKER_UNKNOWN_KEY')
}

function bearer(key: string): NonNullable<CallOptions['headers']> {
  return { authorization: `Bearer ${key}` }
}

function isOfType(headers: Answer['headers'], type: string): boolean {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase() === type
}

/** What may stand behind `Bearer ` (RFC 6750 section 2.1). */
function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[\w.~+/-]+=*$/u.test(value)
}

/** An entity tag but for its weakness. */
function opaque(tag: string | undefined): string | undefined {
  return tag?.replace(/^W\//u, '')
}
