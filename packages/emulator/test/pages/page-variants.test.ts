/** Pages and answers that the document leaves open, each as one option has it. */
import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '../../src/jest.ts'
import {
  Client,
  codeOf,
  demoCredential,
  hiddenInputsOf,
  json,
  type ClientResponse,
  type Hidden,
  type PasscodeStep,
} from '../client.ts'

const emulator = useEmulator({ mfaAt: 'form-submission' })
const plain = { identity: 'plain@example.com', credential: demoCredential }
const mfa = { identity: 'mfa@example.com', credential: demoCredential }

/** Up to the passcode page, and what is needed to verify a passcode. */
async function reachPasscodePage(): Promise<PasscodeStep & { readonly client: Client }> {
  const client = new Client(emulator)
  return { client, ...(await client.reachPasscode(mfa.identity)) }
}

function verify(client: Client, hidden: Hidden, _csrf: string | undefined): Promise<ClientResponse> {
  const transaction_id = hidden['transaction_id'] ?? ''
  return client.verify({ transaction_id, csrf: '' }, emulator.account(mfa.identity), { _csrf })
}

describe('identityFirst', () => {
  it.each(['document', 'lenient'] as const)(
    'asks for the e-mail, then for the password, with strictness %s',
    async (strictness) => {
      emulator.change({ identityFirst: true, strictness })
      const client = new Client(emulator)
      const { page, hidden } = await client.open()
      expect(page.text).toContain('name="identity"')
      expect(page.text).not.toContain('name="credential"')
      expect([hidden['_phase'], '_process' in hidden]).toEqual(['identity', false])

      const second = await client.post({ ...hidden, identity: plain.identity })
      const asked = hiddenInputsOf(second.text)
      expect(second.status).toBe(200)
      expect(asked).toMatchObject({ _phase: 'authenticate', _process: '1', identity: plain.identity })
      expect(second.text).toContain('name="credential"')

      const wrong = await client.post({ ...asked, credential: 'wrong' })
      expect([wrong.status, wrong.text.includes('name="credential"')]).toEqual([401, true])
      const code = codeOf(await client.post({ ...asked, credential: demoCredential }))
      expect((await client.exchange(code)).status).toBe(200)
      expect(emulator.counters.credentialChecks).toBe(2)
    },
  )

  it('rejects a password that it has not asked for, and needs an e-mail', async () => {
    emulator.change({ identityFirst: true })
    const client = new Client(emulator)
    const { hidden } = await client.open()
    expect((await client.post({ ...hidden, ...plain })).status).toBe(400)
    const empty = await client.post({ ...hidden, identity: '' })
    expect(empty.text).toContain('Enter your email')
    expect(empty.text).not.toContain('name="credential"')
    expect(emulator.counters.credentialChecks).toBe(0)
  })
})

describe('the passcode page’s _csrf', () => {
  it('stands in a script', async () => {
    emulator.change({ passcodePage: { csrf: 'script' } })
    const { client, hidden, page } = await reachPasscodePage()
    expect(hiddenInputsOf(page.text)).toEqual({ transaction_id: hidden['transaction_id'] })
    const literal = /var _csrf = (".*");/u.exec(page.text)?.[1] ?? '""'
    expect((await verify(client, hidden, hidden['_csrf'])).status).toBe(403)
    expect(json(await verify(client, hidden, String(JSON.parse(literal))))).toMatchObject({ data: { valid: true } })
  })

  it.each([
    ['the login page’s is taken', (hidden: Hidden) => hidden['_csrf']],
    ['none is taken', () => undefined],
  ])('is not there, as recorded: %s, and the transaction is posted alone', async (_, csrf) => {
    emulator.change({ passcodePage: { csrf: 'none', inTemplate: true } })
    const { client, hidden, page } = await reachPasscodePage()
    expect(page.text).not.toContain('_csrf"')
    expect(hiddenInputsOf(page.text)).toEqual({})
    expect(page.text).toContain(`var transaction_id = "${hidden['transaction_id']}"`)
    expect((await verify(client, hidden, 'wrong')).status).toBe(403)
    expect(json(await verify(client, hidden, csrf(hidden)))).toMatchObject({ data: { valid: true } })
    expect(codeOf(await client.post({ transaction_id: hidden['transaction_id'] }))).not.toBe('')
  })
})

it('formAfterPasscode: only the transaction_id gives the code, the whole form leads to the passcode page again', async () => {
  emulator.change({ formAfterPasscode: 'transaction-id', passcodePage: { csrf: 'none' } })
  const { client, hidden } = await reachPasscodePage()
  await verify(client, hidden, undefined)
  const again = await client.post({ ...hidden, ...mfa })
  expect([again.status, again.text.includes('name="passcode"')]).toEqual([200, true])
  const code = codeOf(await client.post({ transaction_id: hidden['transaction_id'] }))
  expect((await client.exchange(code)).status).toBe(200)
})
