import { beforeAll, describe, expect, it } from '@jest/globals'
import { startEmulator, type Emulator, type EmulatorAccount } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import {
  type ClientResponse,
  Client,
  codeOf,
  demoCredential,
  hiddenInputsOf,
  json,
  type PasscodeStep,
} from '../client.ts'

const identity = 'mfa@example.com'
const emulator = useEmulator()
let account: EmulatorAccount
beforeAll(async () => {
  account = accountOf(emulator)
})

function accountOf(of: Emulator): EmulatorAccount {
  const found = of.accounts.find((candidate) => candidate.identity === identity)
  if (!found) throw new Error('no demo account')
  return found
}

interface Step extends PasscodeStep {
  readonly client: Client
}

async function reachPasscode(target: Emulator = emulator): Promise<Step> {
  const client = new Client(target)
  return { client, ...(await client.reachPasscode(identity)) }
}

function verify(step: Step, changes: Readonly<Record<string, unknown>> = {}): Promise<ClientResponse> {
  return step.client.verify(step, account, changes)
}

function attemptBackupCode({ client, transaction_id }: Step, code: unknown): Promise<ClientResponse> {
  return client.json('/oauth2/v3/authorize/mfa/backupcodes/attempt', { transaction_id, backup_code: code })
}

function dataOf(answer: ClientResponse): Record<string, unknown> {
  const { data }: { data: Record<string, unknown> } = JSON.parse(answer.text)
  return data
}

function errorOf(answer: ClientResponse): string {
  const { error }: { error: { code: string } } = JSON.parse(answer.text)
  return error.code
}

describe('a login with a second factor', () => {
  it('takes seven requests when the passcode page comes at the exchange, as documented', async () => {
    const before = emulator.requests.length
    const step = await reachPasscode()
    expect(step.page.status).toBe(200)
    expect(step.page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(step.page.text).toContain('name="passcode"')
    expect(step.csrf).not.toBe(step.hidden['_csrf'])

    const factors = await step.client.factors(step.transaction_id)
    expect(dataOf(factors)).toHaveLength(2)
    expect(dataOf(await verify(step))).toMatchObject({ approved: true, valid: true })
    const again = await step.client.post({ ...step.hidden, identity, credential: demoCredential })
    const tokens = json(await step.client.exchange(codeOf(again)))
    expect(tokens['token_type']).toBe('Bearer')
    expect(emulator.requests.length - before).toBe(7)
  })

  it('meets the passcode page again when the form is posted again before the passcode was verified', async () => {
    const step = await reachPasscode()
    expect((await step.client.post({ transaction_id: step.transaction_id })).status).toBe(403)
    const again = await step.client.post({ ...step.hidden, identity, credential: demoCredential })
    expect((await step.client.exchange(codeOf(again))).text).toContain('name="passcode"')
  })

  it('is finished with the form of the passcode page, whatever the login page calls its inputs', async () => {
    const rename = { transaction_id: 'tx', _csrf: 'xsrf' }
    await using renamed = await startEmulator({ hiddenInputs: { rename } })
    const step = await reachPasscode(renamed)
    const transaction_id = step.hidden['tx'] ?? ''
    await verify({ ...step, transaction_id }, { passcode: accountOf(renamed).passcode() })
    expect((await step.client.post({ transaction_id, _csrf: step.csrf })).status).toBe(302)
  })

  it('ignores numbers and objects in fields that nobody knows', async () => {
    const step = await reachPasscode()
    expect(dataOf(await verify(step, { client_secret: null, remember: { days: 30 } }))).toMatchObject({ valid: true })
  })

  it('works for a legacy client with the _csrf of the login page, under the name that it has there', async () => {
    const rename = { _csrf: 'xsrf' }
    await using legacy = await startEmulator({
      strictness: 'lenient',
      hiddenInputs: { rename },
      mfaAt: 'code-exchange',
    })
    const step = await reachPasscode(legacy)
    await verify(step, { passcode: accountOf(legacy).passcode(), _csrf: step.hidden['xsrf'] })
    const { transaction_id } = step
    expect((await step.client.post({ transaction_id, xsrf: 'wrong' })).status).toBe(400)
    expect((await step.client.post({ transaction_id, xsrf: step.hidden['xsrf'] })).status).toBe(302)
  })

  it('counts wrong passcodes alone, and reads JSON alone', async () => {
    const step = await reachPasscode()
    await verify(step)
    await verify(step, { passcode: '000000' })
    const { exchanges }: { exchanges: { decision?: string }[] } = JSON.parse(
      await (await fetch(`${emulator.authUrl}/_emulator/exchanges`)).text(),
    )
    expect(exchanges.at(-1)?.decision).toBe('wrong passcode, 1 of 5')
    for (const path of ['verify', 'backupcodes/attempt']) {
      const body = JSON.stringify({ transaction_id: step.transaction_id, _csrf: step.csrf })
      const plain = await step.client.send(`/oauth2/v3/authorize/mfa/${path}`, { method: 'POST', body })
      expect([plain.status, errorOf(plain)]).toEqual([400, 'ERR_OBJECT_VALIDATION'])
      expect(plain.text).toContain('One transaction_id is required')
    }
    const none = await attemptBackupCode(step, undefined)
    expect([none.status, errorOf(none)]).toEqual([400, 'ERR_OBJECT_VALIDATION'])
  })

  it('spends the verification with the code that it gave', async () => {
    const step = await reachPasscode()
    await verify(step)
    const ownForm = { transaction_id: step.transaction_id, _csrf: step.csrf }
    expect((await step.client.post(ownForm)).status).toBe(302)
    expect((await step.client.post(ownForm)).status).toBe(403)
  })
})

describe('the passcode page', () => {})

describe('GET …/authorize/mfa/factors', () => {
  it('lists the factors as recorded', async () => {
    const step = await reachPasscode()
    const answer = await step.client.factors(step.transaction_id)
    expect(dataOf(answer)).toEqual(
      ['Device #1', 'Tablet'].map((name) => ({
        dispatchRequired: false,
        id: account.factors.find((factor) => factor.name === name)?.id,
        name,
        factorType: 'token:software',
        factorProvider: expect.any(String),
        securityLevel: 1,
        activatedAt: expect.stringMatching(/Z$/u),
        updatedAt: expect.stringMatching(/Z$/u),
      })),
    )
  })

  it("answers at the document's path without its prefix too", async () => {
    const step = await reachPasscode()
    expect((await step.client.send(`/authorize/mfa/factors?transaction_id=${step.transaction_id}`)).status).toBe(200)
  })

  it('needs the session cookie, its transaction id, and a sign-in that waits', async () => {
    const path = '/oauth2/v3/authorize/mfa/factors'
    const step = await reachPasscode()
    const [one, two] = [step.transaction_id, 'another']
    for (const query of ['', '?transaction_id=', `?transaction_id=${one}&transaction_id=${two}`])
      expect([query, (await step.client.send(`${path}${query}`)).status]).toEqual([query, 400])
    expect((await step.client.send(`${path}?transaction_id=another`)).status).toBe(401)
    step.client.cookies.delete('sso.sid')
    const without = await step.client.send(`${path}?transaction_id=${step.transaction_id}`)
    expect([without.status, errorOf(without)]).toEqual([401, 'UNAUTHORIZED'])

    const waiting = new Client(emulator)
    const { hidden } = await waiting.open()
    expect((await waiting.send(`${path}?transaction_id=${hidden['transaction_id']}`)).status).toBe(401)
  })

  it('says ERR_EXPIRED after five minutes', async () => {
    emulator.clock.freeze()
    const step = await reachPasscode()
    const path = `/oauth2/v3/authorize/mfa/factors?transaction_id=${step.transaction_id}`
    emulator.clock.advance(300)
    expect((await step.client.send(path)).status).toBe(200)
    emulator.clock.advance(1)
    const late = await step.client.send(path)
    expect([late.status, errorOf(late)]).toEqual([400, 'ERR_EXPIRED'])
  })
})

describe('POST …/authorize/mfa/verify', () => {
  it('answers a right passcode as recorded', async () => {
    const passcode = account.passcode()
    expect(dataOf(await verify(await reachPasscode(), { passcode }))).toEqual({
      id: expect.any(String),
      challengeId: expect.any(String),
      factorId: account.factors[0]?.id,
      passCode: passcode,
      approved: true,
      flagged: false,
      valid: true,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
  })

  it('answers a wrong passcode with 200, approved and not valid, and takes the right one after it', async () => {
    const step = await reachPasscode()
    const wrong = await verify(step, { passcode: account.passcode('Tablet') })
    expect(wrong.status).toBe(200)
    expect(dataOf(wrong)).toMatchObject({ approved: true, valid: false })
    expect((await step.client.post({ transaction_id: step.transaction_id })).status).toBe(403)
    expect(dataOf(await verify(step))).toMatchObject({ valid: true })
  })

  it('takes each factor’s own passcode alone', async () => {
    const step = await reachPasscode()
    const tablet = { factor_id: account.factors[1]?.id, passcode: account.passcode('Tablet') }
    expect(dataOf(await verify(step, tablet))).toMatchObject({ valid: true })
  })

  it.each([
    [-60, false],
    [-30, true],
    [30, true],
    [60, false],
  ])('with a device %i seconds off answers valid: %s (one step of drift)', async (drift, valid) => {
    const step = await reachPasscode()
    emulator.clock.advance(drift)
    const passcode = account.passcode()
    emulator.clock.advance(-drift)
    expect(dataOf(await verify(step, { passcode }))).toMatchObject({ valid })
  })

  it('rejects a passcode that was used already', async () => {
    const passcode = account.passcode()
    await verify(await reachPasscode(), { passcode })
    const answer = await verify(await reachPasscode(), { passcode })
    expect([answer.status, errorOf(answer)]).toEqual([400, 'ERR_PASS_CODE_REPLAY'])
  })

  it('rejects the sixth attempt, however often the form is posted in between', async () => {
    const step = await reachPasscode()
    for (let attempt = 0; attempt < 5; attempt += 1) await verify(step, { passcode: '12345x' })
    const sixth = await verify(step)
    expect([sixth.status, errorOf(sixth)]).toEqual([400, 'ERR_MAX_VERIFICATION_ATTEMPTS'])
    const again = await step.client.post({ ...step.hidden, identity, credential: demoCredential })
    const page = await step.client.exchange(codeOf(again))
    const csrf = hiddenInputsOf(page.text)['_csrf']
    expect(errorOf(await verify(step, { _csrf: csrf }))).toBe('ERR_MAX_VERIFICATION_ATTEMPTS')
  })

  it.each([
    ['_csrf', undefined, 403, 'UNAUTHORIZED'],
    ['transaction_id', undefined, 400, 'ERR_OBJECT_VALIDATION'],
    ['transaction_id', 'another', 401, 'UNAUTHORIZED'],
    ['factor_id', undefined, 400, 'ERR_OBJECT_VALIDATION'],
    ['factor_id', 'another', 400, 'ERR_INVALID_FACTOR'],
    ['passcode', undefined, 400, 'ERR_OBJECT_VALIDATION'],
    ['passcode', 123_456, 400, 'ERR_OBJECT_VALIDATION'],
  ])('rejects %s %s with %i %s', async (name, value, status, code) => {
    const answer = await verify(await reachPasscode(), { [name]: value })
    expect([answer.status, errorOf(answer)]).toEqual([status, code])
  })

  it('keeps leading zeros: a passcode is a string of six digits', async () => {
    while (!account.passcode().startsWith('0')) emulator.clock.advance(30)
    const step = await reachPasscode()
    expect(dataOf(await verify(step, { passcode: String(Number(account.passcode())) }))).toMatchObject({ valid: false })
    expect(dataOf(await verify(step))).toMatchObject({ valid: true })
  })
})

describe('POST …/authorize/mfa/backupcodes/attempt', () => {
  it('takes each code once, in place of a passcode', async () => {
    const [code = ''] = account.backupCodes
    const left = account.backupCodes.length
    const step = await reachPasscode()
    expect(dataOf(await attemptBackupCode(step, code))).toEqual({
      valid: true,
      reason: null,
      message: null,
      codesRemaining: left - 1,
      attemptsRemaining: 10,
      locked: false,
    })
    const again = await step.client.post({ ...step.hidden, identity, credential: demoCredential })
    expect((await step.client.exchange(codeOf(again))).status).toBe(200)
    expect(dataOf(await attemptBackupCode(await reachPasscode(), code))).toMatchObject({
      valid: false,
      attemptsRemaining: 9,
    })
  })

  it('locks after ten wrong ones', async () => {
    const step = await reachPasscode()
    const codesRemaining = account.backupCodes.length
    for (let round = 1; round <= 10; round += 1) {
      expect(dataOf(await attemptBackupCode(step, 'WRONGCODE'))).toEqual({
        valid: false,
        reason: 'INVALID_CODE',
        message: 'The backup code is not valid',
        codesRemaining,
        attemptsRemaining: 10 - round,
        locked: round === 10,
      })
    }
    for (const code of [account.backupCodes[0], 'WRONGCODE']) {
      expect(dataOf(await attemptBackupCode(step, code))).toEqual({
        valid: false,
        reason: 'LOCKED',
        message: 'Too many attempts',
        codesRemaining,
        attemptsRemaining: 0,
        locked: true,
      })
    }
    expect(emulator.counters.passcodeChecks).toBe(10)
  })

  it('needs a code', async () => {
    expect(errorOf(await attemptBackupCode(await reachPasscode(), undefined))).toBe('ERR_OBJECT_VALIDATION')
  })
})
