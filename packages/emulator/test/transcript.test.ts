/**
 * What the emulator answers, whole: each status, header, page and field of a sign-in, a refresh, the owner API and the inspector
 * is what the last release answered. Who changes one on purpose runs this file with `-u`.
 */
import { connect } from 'node:http2'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'
import { type Emulator, type EmulatorOptions, startEmulator } from '../src/index.ts'
import { useEmulator } from '../src/jest.ts'
import { Client, type ClientResponse, codeOf, demoCredential, hiddenInputsOf } from './client.ts'

const emulator = useEmulator()

/** Headers that are Node's own, or differ from run to run. */
const left = new Set(['connection', 'content-length', 'date', 'keep-alive'])

/** Without what is random, and without ports. */
function settled(value: string): string {
  return value
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/gu, (token) => `JWT ${token.split('.').slice(0, 2).map(partOf).join(' ')}`)
    .replaceAll(/((?:_csrf|transaction_id)"?(?: value=| ?= ?|: ?)")[^"]+/gu, '$1RANDOM')
    .replaceAll(/[\da-f]{8}&#46;\d+&#46;[\da-f]{8}/gu, 'RANDOM')
    .replaceAll(/\b\d+ ms\b/gu, 'TIME')
    .replaceAll(/(>)[A-Z\d](<\/text>)/gu, '$1LETTER$2')
    .replaceAll(/[\w-]{20,}/gu, (word) => (/\d|^.+[A-Z]/u.test(word) ? `RANDOM of ${word.length}` : word))
    .replaceAll(/(127\.0\.0\.1|localhost)(:|%3A|&#x25;3A|&#x3a;)\d{4,5}/gu, '$1$2PORT')
}

function partOf(part: string): string {
  const claims: Record<string, unknown> = JSON.parse(Buffer.from(part, 'base64url').toString())
  return JSON.stringify(claims, (name, value: unknown) => (name === 'jti' || name === 'kid' ? 'RANDOM' : value))
}

function shown({ status, headers, text: body }: ClientResponse): object {
  const kept = [...headers].filter(([name]) => !left.has(name)).map(([name, value]) => `${name}: ${settled(value)}`)
  return { status, headers: kept.toSorted(), body: content(body) }
}

const fetchHeader = /^(?:accept|sec|user-agent|connection)(?:-|$)/u

function isPair(value: unknown): value is { name: string } {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
}

/** JSON as what it holds, anything else line by line. */
function content(body: string): unknown {
  if (!/^[[{]/u.test(body)) return settled(body).split('\n')
  return JSON.parse(body, (name, value: unknown) => {
    if (['offset', 'started', 'duration', 'startedDateTime', 'time', 'wait'].includes(name)) return 0
    if (['_csrf', 'transaction_id'].includes(name)) return 'RANDOM'
    // What Node's fetch sends by itself differs from version to version.
    if (isPair(value) && fetchHeader.test(value.name)) return 'RANDOM'
    if (name === 'userAgent' || fetchHeader.test(name)) return undefined
    return typeof value === 'string' ? settled(value) : value
  })
}

function at(target: Emulator): Emulator {
  target.clock.freeze()
  target.clock.jump(1_800_000_000)
  return target
}

async function signIn(target: Emulator): Promise<object[]> {
  const client = new Client(target)
  const account = target.account('mfa@example.com')
  const { page, hidden } = await client.open()
  const fields = { ...hidden, identity: account.identity, credential: demoCredential }
  const wrong = await client.post({ ...fields, credential: 'wrong' })
  const submitted = await client.post({
    ...hiddenInputsOf(wrong.text),
    identity: account.identity,
    credential: demoCredential,
  })
  const passcodePage = submitted.status === 302 ? await client.exchange(codeOf(submitted)) : submitted
  const transaction = { transaction_id: hidden['transaction_id'] ?? hiddenInputsOf(wrong.text)['transaction_id'] ?? '' }
  const factors = await client.send(`/oauth2/v3/authorize/mfa/factors?${new URLSearchParams(transaction).toString()}`)
  const csrf = hiddenInputsOf(passcodePage.text)['_csrf'] ?? ''
  const verifying = { ...transaction, factor_id: account.factors[0]?.id, _csrf: csrf }
  const refused = await client.json('/oauth2/v3/authorize/mfa/verify', { ...verifying, passcode: '000000' })
  const backup = await client.json('/oauth2/v3/authorize/mfa/backupcodes/attempt', {
    ...transaction,
    backup_code: 'wrong',
  })
  const verified = await client.json('/oauth2/v3/authorize/mfa/verify', { ...verifying, passcode: account.passcode() })
  const again = await client.post(fields)
  const received = await client.exchange(codeOf(again))
  const answers = [page, wrong, submitted, passcodePage, factors, refused, backup, verified, again, received]
  return answers.map(shown)
}

describe('a sign-in with a second factor', () => {
  it.each<[string, EmulatorOptions]>([
    ['as the document has it', {}],
    [
      'as recorded',
      { strictness: 'lenient', factorList: 'factors', passcodePage: { csrf: 'script', duplicates: true } },
    ],
    [
      'with other pages',
      {
        mfaAt: 'form-submission',
        errorTexts: 'script',
        wrongCredentials: 200,
        factorList: 'bare',
        hiddenInputs: { rename: { _phase: 'x' }, extra: { y: 'z' }, inTemplate: true },
      },
    ],
  ])('%s', async (_what, options) => {
    emulator.change(options)
    expect(await signIn(at(emulator))).toMatchSnapshot()
  })

  it('for other regions, captchas and locked accounts', async () => {
    at(emulator)
    const answers = []
    for (const identity of ['regional@example.com', 'nobody@example.com']) {
      answers.push((await new Client(emulator).authorize(identity)).answer)
      answers.push((await new Client(emulator).open({ login_hint: identity })).page)
    }
    const elsewhere = new Client(emulator, { base: emulator.regionalAuthUrl })
    answers.push((await elsewhere.open({ login_hint: 'plain@example.com' })).page)
    answers.push(await elsewhere.send('/_emulator/exchanges'))
    emulator.firewall.block(1)
    emulator.once('login-page', { firewall: 'script' })
    answers.push((await elsewhere.open()).page)
    emulator.firewall.lift()
    emulator.account('plain@example.com').change({ locked: true })
    answers.push((await new Client(emulator).authorize('plain@example.com')).answer)
    for (const captchaKind of ['recaptcha', 'hcaptcha', 'turnstile'] as const) {
      emulator.change({ captchaKind })
      emulator.account('plain@example.com').change({ locked: false, captcha: true })
      answers.push((await new Client(emulator).open({ login_hint: 'plain@example.com' })).page)
      answers.push((await new Client(emulator).authorize('plain@example.com')).answer)
    }
    emulator.change({ identityFirst: true })
    answers.push((await new Client(emulator).open()).page)
    expect(answers.map(shown)).toMatchSnapshot()
  })
})

it('the token endpoint, in order and out of it', async () => {
  at(emulator)
  const client = new Client(emulator)
  const tokens = await client.login('plain@example.com')
  const answers = [
    await client.refresh(tokens['refresh_token']),
    await client.refresh(tokens['refresh_token']),
    await client.refresh(undefined),
    await client.refresh('unknown', { client_id: 'other' }),
    await client.refresh('unknown', { grant_type: 'password' }),
    await client.exchange('unknown'),
    await client.exchange('unknown', { redirect_uri: undefined }),
    await client.send('/oauth2/v3/token'),
    await client.send('/oauth2/v3/token', { method: 'POST', body: '{' }),
    await client.send('/oauth2/v3/authorize?client_id=other'),
    await client.send('/nowhere'),
    await client.send('/'),
  ]
  emulator.firewall.block()
  answers.push(await client.refresh('unknown'), await client.send('/oauth2/v3/authorize'))
  expect(answers.map(shown)).toMatchSnapshot()
})

it('the owner API', async () => {
  at(emulator)
  const { access_token: token } = await emulator.issueTokens('plain@example.com')
  const client = new Client(emulator, { base: emulator.ownerApiUrl })
  const get = (path: string, authorization?: string): Promise<ClientResponse> =>
    client.send(path, { headers: authorization === undefined ? {} : { authorization } })
  const paths = [
    '/api/1/vehicles',
    '/api/1/vehicles/1001',
    '/api/1/vehicles/1001/vehicle_data',
    '/api/1/vehicles/7',
    '/api/1/users/me',
    '/nowhere',
  ]
  const answers = []
  for (const path of paths) answers.push(await get(path, `Bearer ${token}`))
  answers.push(await get('/api/1/vehicles'), await get('/api/1/vehicles', 'Bearer unknown'))
  emulator.change({ mintedBy: { http: '2' } })
  const [other] = [await emulator.issueTokens('plain@example.com')]
  answers.push(await get('/api/1/vehicles', `Bearer ${other.access_token}`))
  expect(answers.map(shown)).toMatchSnapshot()
})

it('the inspector and the control API', async () => {
  await using own = await startEmulator()
  at(own)
  const client = new Client(own)
  await client.login('plain@example.com')
  await client.send(`/${'x'.repeat(199)}`)
  await client.send(`/${'x'.repeat(200)}`)
  const answers = [
    await client.send('/_emulator/state'),
    await client.send('/_emulator/exchanges'),
    await client.send('/_emulator/exchanges/1'),
    await client.send('/_emulator/exchanges/99'),
    await client.json('/_emulator/exchanges/2/secrets', {}),
    await client.send('/_emulator/logins/1.har'),
    await client.send('/_emulator/logins/1.mmd'),
    await client.send('/_emulator/logins/9.har'),
    await client.json('/_emulator/options', { rotation: 'sometimes' }, 'PATCH'),
    await client.json('/_emulator/accounts/nobody', { locked: true }, 'PATCH'),
    await client.json('/_emulator/nowhere', {}),
    await client.send('/_emulator/options', { method: 'PATCH', body: '{}' }),
  ]
  expect(answers.map(shown)).toMatchSnapshot()
})

it('what lives, as the inspector shows it', async () => {
  await using own = await startEmulator()
  at(own)
  const client = new Client(own)
  await client.login('plain@example.com')
  await new Client(own).authorize('plain@example.com')
  await new Client(own).authorize('mfa@example.com')
  for (let count = 0; count < 6; count += 1) await own.issueTokens('regional@example.com')
  own.change({ mfaAt: 'form-submission', refreshTokenLifetime: 500 })
  await new Client(own).authorize('mfa@example.com')
  await own.issueTokens('plain@example.com')
  own.firewall.block(10)
  const leave = new AbortController()
  const { body } = await fetch(`${own.authUrl}/_emulator/events`, { signal: leave.signal })
  let told = ''
  for await (const chunk of body ?? []) {
    told += Buffer.from(chunk).toString()
    if (/event: state\n.*\n\n/u.test(told)) break
  }
  leave.abort()
  expect(content(/event: state\ndata: (.*)/u.exec(told)?.[1] ?? '')).toMatchSnapshot()
})

it('over HTTP/2 a request reaches the instance that it names', async () => {
  await using other = await startEmulator({ tls: true, http2: true, regionalAt: 'host-name' })
  const { port } = new URL(other.authUrl)
  const placeOf = async (host: string): Promise<string> => {
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const stream = session.request({ ':path': '/oauth2/v3/authorize', ':authority': `${host}:${port}` })
    await text(stream)
    session.close()
    await once(session, 'close')
    return other.requests.at(-1)?.host ?? ''
  }
  expect([await placeOf('127.0.0.1'), await placeOf('localhost')]).toEqual([`127.0.0.1:${port}`, `localhost:${port}`])
})
