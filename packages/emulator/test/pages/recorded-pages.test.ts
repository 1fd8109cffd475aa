import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '../../src/jest.ts'
import { type ClientResponse, Client, codeOf, demoCredential, hiddenInputsOf, json } from '../client.ts'

const lenient = useEmulator({ strictness: 'lenient', mfaAt: 'form-submission' })
const document = useEmulator({ mfaAt: 'form-submission' })
const hiddenInput = /^ *<input type="hidden" name="([^"]*)" value="([^"]*)" \/>$/u
const client = (): Client => new Client(lenient)

/** The inputs of a page by name, as legacy clients read them: the first match of the whole text. */
const firstInput = (page: string, name: string): string | undefined =>
  new RegExp(`name="${name}" value="([^"]*)"`, 'u').exec(page)?.[1]

describe('the login page with strictness lenient', () => {
  it('has its hidden inputs one per line, unescaped, and nothing else that looks like one', async () => {
    const { page } = await client().open()
    const lines = page.text.split('\n').filter((line) => line.includes('type="hidden"'))
    const names = lines.map((line) => hiddenInput.exec(line)?.[1])
    expect(names).toEqual(['_csrf', '_phase', '_process', 'transaction_id', 'cancel'])
    expect(firstInput(page.text, '_csrf')).toMatch(/^[\w-]{36}$/u)
    expect(page.text).toMatch(/<title>[^<]+<\/title>[\s\S]*<form method="post" id="form" class="[^"]+">/u)
    expect(page.text).not.toMatch(/<!--|disabled/u)
  })

  it('says what is wrong in its script and in sight', async () => {
    const from = client()
    const { hidden } = await from.open()
    const { status, text } = await from.post({ ...hidden, identity: 'plain@example.com', credential: 'wrong' })
    expect([status, text]).toEqual([401, expect.stringContaining('var messages = {"_":["We could not sign you in"]}')])
    expect(text).toContain('role="alert"')
  })

  it('goes by the options for hidden inputs', async () => {
    lenient.change({ hiddenInputs: { rename: { _csrf: 'check' }, extra: { more: '1' }, inTemplate: true } })
    const { page } = await client().open()
    expect(page.text).toMatch(/<script type="text\/html"[\s\S]*name="check"[\s\S]*name="more"[\s\S]*<\/script>/u)
  })

  it('keeps its decoys with strictness document', async () => {
    const { page } = await new Client(document).open()
    expect(firstInput(page.text, '_csrf')).toMatch(/^from-a-/u)
    expect(hiddenInputsOf(page.text)['_csrf']).toMatch(/[&"<]/u)
  })
})

it('the session’s cookie is the first with strictness lenient alone, on every authorize answer', async () => {
  const first = ({ headers }: ClientResponse): string | undefined => headers.getSetCookie()[0]?.split('=', 1)[0]
  const from = client()
  const { page } = await from.open()
  expect([first(page), first(await from.post({}))]).toEqual(['sso.sid', 'sso.sid'])
  expect(first((await new Client(document).open()).page)).not.toBe('sso.sid')
})

describe('the passcode page with strictness lenient', () => {
  it('has its inputs in a script template, and the transaction in a script', async () => {
    const from = client()
    const { text } = (await from.reachPasscode()).page
    const bare = text.replaceAll(/<script[\s\S]*?<\/script>/gu, '')
    expect(bare).not.toMatch(/name="(?:_csrf|transaction_id|passcode)"/u)
    const [, template = ''] = /<script type="text\/html"[^>]*>([\s\S]*?)<\/script>/u.exec(text) ?? []
    expect(template).toMatch(/name="passcode"/u)
    expect(/var transaction_id = "([^"]+)"/u.exec(text)?.[1]).toBe(firstInput(template, 'transaction_id'))
  })

  it('has its inputs where the option passcodePage says, whatever the strictness', async () => {
    lenient.change({ passcodePage: { inTemplate: false } })
    const { text } = (await client().reachPasscode()).page
    expect(text).not.toContain('text/html"')
  })

  it('has a _csrf that verifies, read with a regular expression', async () => {
    const from = client()
    const { text } = (await from.reachPasscode()).page
    const read = { transaction_id: firstInput(text, 'transaction_id') ?? '', csrf: firstInput(text, '_csrf') ?? '' }
    const answer = await from.verify(read, lenient.account('mfa@example.com'))
    expect(json(answer)).toMatchObject({ data: { valid: true } })
  })
})

describe('GET /captcha', () => {
  const letters = ({ text }: ClientResponse): string =>
    [...text.matchAll(/<text[^>]*>(\w)<\/text>/gu)].map(([, one]) => one).join('')

  it('is the picture of the page’s captcha, its letters as text', async () => {
    const account = lenient.account('plain@example.com')
    account.change({ captcha: true })
    const from = client()
    const { page, hidden } = await from.open({ login_hint: account.identity })
    expect(page.text).toContain('<img src="/captcha"')
    expect(page.text).not.toContain('<svg')
    const picture = await from.send('/captcha')
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    const fields = { ...hidden, identity: account.identity, credential: demoCredential }
    expect((await from.post({ ...fields, captcha: 'WRONG' })).text).toContain('Captcha does not match')
    const shown = letters(await from.send('/captcha'))
    expect(shown).toMatch(/^[A-Z]{5}$/u)
    expect(shown).not.toBe(letters(picture))
    const code = codeOf(await from.post({ ...fields, captcha: shown }))
    expect((await from.exchange(code)).status).toBe(200)
  })

  it('is shown to its own session alone, and not where the page has no captcha', async () => {
    const from = client()
    expect((await from.send('/captcha')).status).toBe(403)
    await from.open()
    const none = await from.send('/captcha')
    expect([none.status, none.text.includes('Your page shows no captcha.')]).toEqual([404, true])
  })

  it('is 404 with strictness document, whose page draws the captcha itself', async () => {
    document.account('plain@example.com').change({ captcha: true })
    const from = new Client(document)
    const { page } = await from.open({ login_hint: 'plain@example.com' })
    expect(letters(page)).toMatch(/^[A-Z]{5}$/u)
    expect((await from.send('/captcha')).status).toBe(404)
  })

  it('can have faults like any other endpoint', async () => {
    const from = client()
    lenient.once('captcha', { status: 503 })
    expect((await from.send('/captcha')).status).toBe(503)
  })
})
