import { describe, expect, it } from '@jest/globals'
import type { Strictness } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { type ClientResponse, Client, codeOf, demoCredential, json, randomVerifier, documentScope } from '../client.ts'

const identity = 'plain@example.com'
const document = useEmulator()
const lenient = useEmulator({ strictness: 'lenient' })
const mfa = { identity: 'mfa@example.com', credential: demoCredential }

const modes = ['document', 'lenient'] as const
const emulatorOf = (mode: Strictness): typeof document => (mode === 'document' ? document : lenient)

/** An answer that says no: its status, and what it says. */
function expectRefusal(answer: ClientResponse, status: number, words: string): void {
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words)])
}

interface Step {
  readonly client: Client
  readonly form: Readonly<Record<string, string>>
  readonly transactionId: string
  readonly verify: (changes?: Readonly<Record<string, unknown>>) => Promise<ClientResponse>
}

/** As documented, up to the passcode page at the exchange. */
async function reachPasscode(mode: Strictness): Promise<Step> {
  const emulator = emulatorOf(mode)
  const client = new Client(emulator)
  const step = await client.reachPasscode(mfa.identity)
  return {
    client,
    form: { ...step.hidden, ...mfa },
    transactionId: step.transaction_id,
    verify: (changes) => client.verify(step, emulator.account(mfa.identity), changes),
  }
}

describe.each(modes)('a client of the interface document, with strictness %s', (mode) => {
  it('signs in, refreshes and calls the owner API', async () => {
    const client = new Client(emulatorOf(mode))
    const { refresh_token } = await client.login(identity)
    const tokens = json(await client.refresh(refresh_token))
    const headers = { authorization: `Bearer ${tokens['access_token']}` }
    expect((await fetch(`${emulatorOf(mode).ownerApiUrl}/api/1/vehicles`, { headers })).status).toBe(200)
  })

  it('signs in with a second factor and the whole form again', async () => {
    const { client, form, verify } = await reachPasscode(mode)
    expect((await verify()).status).toBe(200)
    expect((await client.exchange(codeOf(await client.post(form)))).status).toBe(200)
  })
})

describe('a token request that is form encoded', () => {
  const send = (client: Client, fields: Record<string, string>): Promise<ClientResponse> =>
    client.send('/oauth2/v3/token', { method: 'POST', body: new URLSearchParams(fields) })

  async function exchange(mode: Strictness): Promise<ClientResponse> {
    const client = new Client(emulatorOf(mode))
    const code = codeOf((await client.authorize(identity)).answer)
    const { verifier, redirectUri } = client
    const fields = { grant_type: 'authorization_code', client_id: 'ownerapi', code }
    return send(client, { ...fields, code_verifier: verifier, redirect_uri: redirectUri })
  }

  async function refresh(mode: Strictness): Promise<ClientResponse> {
    const { refresh_token } = await emulatorOf(mode).issueTokens(identity)
    const fields = { grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token, scope: documentScope }
    return send(new Client(emulatorOf(mode)), fields)
  }

  it.each([
    ['exchanges a code', exchange],
    ['refreshes', refresh],
  ])('%s with strictness lenient alone', async (_case, sent) => {
    expect(json(await sent('lenient'))).toMatchObject({ token_type: 'Bearer' })
    expectRefusal(await sent('document'), 400, 'The body must be application/json')
  })
})

it('strictness can change between two requests', async () => {
  const refresh = async (): Promise<number> => {
    const { refresh_token } = await document.issueTokens(identity)
    return (await new Client(document).refresh(refresh_token, { scope: undefined })).status
  }
  expect(await refresh()).toBe(400)
  document.change({ strictness: 'lenient' })
  expect(await refresh()).toBe(200)
  document.change({ strictness: 'document' })
  expect(await refresh()).toBe(400)
})

describe('a form posted without the query of step 1', () => {
  const post = async (mode: Strictness, query: (client: Client) => URLSearchParams): Promise<ClientResponse> => {
    const client = new Client(emulatorOf(mode))
    const { hidden } = await client.open()
    return client.post({ ...hidden, identity, credential: demoCredential }, query(client))
  }

  it('signs in with strictness lenient alone', async () => {
    expect((await post('lenient', () => new URLSearchParams())).status).toBe(302)
    expectRefusal(await post('document', () => new URLSearchParams()), 400, 'client_id')
  })

  it.each(modes)(
    'is rejected with strictness %s where only a part of the query is there, or another one',
    async (mode) => {
      expectRefusal(await post(mode, (client) => client.query({ scope: undefined })), 400, 'scope')
      expectRefusal(await post(mode, (client) => client.query({ state: 'another' })), 400, 'differ')
    },
  )
})

describe('a verification without _csrf', () => {
  it('is accepted with strictness lenient alone', async () => {
    const step = await reachPasscode('lenient')
    expect(json(await step.verify({ _csrf: undefined }))).toMatchObject({ data: { valid: true } })
    expectRefusal(await (await reachPasscode('document')).verify({ _csrf: undefined }), 403, '_csrf')
  })

  it('may have the login page’s with strictness lenient alone', async () => {
    const verify = async (mode: Strictness): Promise<ClientResponse> => {
      const { verify: send, form } = await reachPasscode(mode)
      return send({ _csrf: form['_csrf'] })
    }
    expect(json(await verify('lenient'))).toMatchObject({ data: { valid: true } })
    expectRefusal(await verify('document'), 403, '_csrf')
  })

  it.each(modes)('with a wrong _csrf is rejected with strictness %s', async (mode) => {
    expectRefusal(await (await reachPasscode(mode)).verify({ _csrf: 'wrong' }), 403, '_csrf')
  })
})

describe('a transaction_id posted alone after the verification', () => {
  it('gives a code with strictness lenient alone', async () => {
    const step = await reachPasscode('lenient')
    await step.verify()
    const answer = await step.client.post({ transaction_id: step.transactionId })
    expect((await step.client.exchange(codeOf(answer))).status).toBe(200)
  })
})

describe('GET /oauth2/v3/authorize?transaction_id= after the verification', () => {
  const ask = ({ client, transactionId }: Step, query = ''): Promise<ClientResponse> =>
    client.send(`/oauth2/v3/authorize?transaction_id=${transactionId}${query}`)

  it('gives a code with strictness lenient alone, once', async () => {
    const step = await reachPasscode('lenient')
    expectRefusal(await ask(step), 403, 'No verified sign-in')
    await step.verify()
    expect((await step.client.exchange(codeOf(await ask(step)))).status).toBe(200)
    expect((await ask(step)).status).toBe(403)

    const other = await reachPasscode('document')
    await other.verify()
    expectRefusal(await ask(other), 400, 'client_id')
  })

  it('is the login page where the query of step 1 comes with it and nothing was verified', async () => {
    const step = await reachPasscode('lenient')
    const answer = await ask(step, `&${step.client.query().toString()}`)
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('name="credential"')])
  })
})

describe('the code challenge and its verifier', () => {
  const exchange = async (
    mode: Strictness,
    verifier: string,
    encoding: 'raw-digest' | 'hex-digest',
  ): Promise<ClientResponse> => {
    const client = new Client(emulatorOf(mode), { encoding, verifier })
    return client.exchange(codeOf((await client.authorize(identity)).answer))
  }

  it('of RFC 7636 is taken with strictness lenient alone', async () => {
    expect((await exchange('lenient', randomVerifier(), 'raw-digest')).status).toBe(200)
    expectRefusal(await exchange('document', randomVerifier(), 'raw-digest'), 400, 'Invalid code_verifier')
  })

  it.each(['a'.repeat(43), `${'a'.repeat(127)}~`])(
    '%s is a verifier with strictness lenient alone',
    async (verifier) => {
      expect((await exchange('lenient', verifier, 'hex-digest')).status).toBe(200)
      expectRefusal(await exchange('document', verifier, 'hex-digest'), 400, 'Invalid code_verifier')
    },
  )

  it.each(['a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(85)} `])('%s is none in any mode', async (verifier) => {
    for (const mode of modes) expectRefusal(await exchange(mode, verifier, 'hex-digest'), 400, 'Invalid code_verifier')
  })
})

describe('a hidden value posted as the page’s source has it, entities and all', () => {
  const post = async (mode: Strictness): Promise<ClientResponse> => {
    emulatorOf(mode).change({ hiddenInputs: { extra: { fingerprint: 'a&b' } } })
    const client = new Client(emulatorOf(mode))
    const { page } = await client.open()
    const inputs = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/gu)]
    const hidden = Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]))
    expect(hidden['fingerprint']).toBe('a&amp;b')
    return client.post({ ...hidden, identity, credential: demoCredential })
  }

  it('is accepted with strictness lenient alone', async () => {
    expect((await post('lenient')).status).toBe(302)
    expect((await post('document')).status).toBe(403)
  })
})

describe('a refresh without a scope', () => {
  it('is accepted with strictness lenient alone; a wrong scope is not', async () => {
    const refresh = async (mode: Strictness, scope: string | undefined): Promise<ClientResponse> => {
      const { refresh_token } = await emulatorOf(mode).issueTokens(identity)
      return new Client(emulatorOf(mode)).refresh(refresh_token, { scope })
    }
    expect((await refresh('lenient', undefined)).status).toBe(200)
    expectRefusal(await refresh('document', undefined), 400, 'invalid_scope')
    for (const mode of modes) expectRefusal(await refresh(mode, 'openid'), 400, 'invalid_scope')
  })
})
