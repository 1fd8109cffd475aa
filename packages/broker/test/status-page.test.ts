/** Who gets onto the status page, and what it answers to whom it does not know. */
import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { notebook, type TokenStore } from '@owner-sso/core'
import type { Endpoint } from '@owner-sso/emulator'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { load } from 'cheerio'
import { statusPageCode, takeCode } from '../src/status-page/entry-code.ts'
import { ago, duration } from '../src/status-page/duration.ts'
import { sharedTries } from '../src/status-page/shared-tries.ts'
import { signInTries } from '../src/status-page/sign-in-routes.ts'
import { statusPage } from '../src/status-page/status-page.ts'
import { type PageUnderTest, startPage } from './page-under-test.ts'
import { until } from './until.ts'

const emulator = useEmulator({ mfaAt: 'form-submission' })
const opened: PageUnderTest[] = []
const [account, credential] = ['plain@example.com', 'correct horse']

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function start(
  ...options: Parameters<typeof startPage> extends [unknown, ...infer Rest] ? Rest : never
): Promise<PageUnderTest> {
  const page = await startPage(emulator, ...options)
  opened.push(page)
  return page
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

type Init = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> }

/** A browser without a screen: keeps its cookie, and posts the forms that it was shown. */
function browserAt(url: string) {
  let cookie = ''
  let token = ''
  const send = async (path: string, init: Init = {}): Promise<Answer> => {
    const response = await fetch(url + path, {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie && { cookie }), ...init.headers },
    })
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    const text = await response.text()
    token = String(load(text)('[name=_csrf]').last().val() ?? token)
    return { status: response.status, headers: response.headers, text }
  }
  return {
    open: send,
    post: (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      send(path, { method: 'POST', body: new URLSearchParams({ _csrf: token, ...fields }), headers }),
    cookie: () => cookie,
  }
}

async function inside(page: PageUnderTest) {
  const browser = browserAt(page.url)
  await browser.open('/status')
  expect(await browser.post('/status/enter', { code: await page.code() })).toMatchObject({ status: 303 })
  await browser.open('/status')
  return browser
}

describe('the entrance', () => {
  it('lets in who has a code, once, in any spelling, and for good', async () => {
    const page = await start()
    const code = await page.code()
    const browser = browserAt(page.url)
    expect((await browser.open('/status')).text).toContain('Who are you?')
    expect((await browser.post('/status/enter', { code: 'AAAA-AAAA' })).status).toBe(401)
    expect((await browser.post('/status/enter', { code: ` ${code.toLowerCase().replace('-', ' ')} ` })).status).toBe(
      303,
    )
    expect((await browser.open('/status')).text).toContain('Accounts')
    const second = browserAt(page.url)
    await second.open('/status')
    expect((await second.post('/status/enter', { code })).text).toContain('is not right, or was used')
    // Another instance over the same store knows the cookie.
    const other = await start({ store: page.store })
    expect(await (await fetch(`${other.url}/status`, { headers: { cookie: browser.cookie() } })).text()).toContain(
      'Accounts',
    )
    expect((await browser.post('/status/leave', {})).status).toBe(303)
    expect((await browser.open('/status')).text).toContain('Who are you?')
  })

  it('takes no code that is older than ten minutes', async () => {
    const store = memoryTokenStore()
    const [late, early] = [await statusPageCode(store), await statusPageCode(store)]
    const notes = notebook(store, 'status-page')
    const { codes } = await notes.read()
    const ends = Object.values(codes as Record<string, number>)
    expect(ends.every((end) => Math.abs(end - Date.now() / 1000 - 600) < 5)).toBe(true)
    const [first = ''] = Object.keys(codes as object)
    await notes.change((all) => ({ ...all, codes: { ...(codes as object), [first]: Date.now() / 1000 - 1 } }))
    expect(await takeCode(store, late)).toBe(false)
    expect(await takeCode(store, early)).toBe(true)
    expect(await takeCode(store, early)).toBe(false)
    expect(JSON.stringify(await notes.read())).not.toContain(early.replace('-', ''))
  })

  it('refuses to be guessed at', async () => {
    const store = memoryTokenStore()
    const [page, other] = [await start({ store }), await start({ store })]
    const browsers = [browserAt(page.url), browserAt(other.url)]
    for (const browser of browsers) await browser.open('/status')
    const before = Date.now() / 1000
    for (let guess = 0; guess < 20; guess += 1)
      expect((await browsers[guess % 2]!.post('/status/enter', { code: `${guess}` })).status).toBe(401)
    // For a quarter of an hour from the first one on, as the page says.
    const [counted] = Object.values(await notebook(store, 'status-page-codes').read()) as { until: number }[]
    expect(counted?.until).toBeGreaterThanOrEqual(before + 900)
    expect(counted?.until).toBeLessThanOrEqual(Date.now() / 1000 + 900)
    for (const browser of browsers)
      expect((await browser.post('/status/enter', { code: await page.code() })).status).toBe(429)
  })

  it('shows nothing of accounts and clients, and does nothing, for who did not come in', async () => {
    const page = await start()
    await page.clients.invite({ name: 'kitchen', accounts: [account] })
    const browser = browserAt(page.url)
    for (const path of ['', '/', '/sign-in', '/sign-in/passcode', '/sign-in/browser?account=plain@example.com']) {
      const { text, status } = await browser.open(`/status${path}`)
      expect([path, status, text.includes('Who are you?'), /kitchen|plain@/u.test(text)]).toEqual([
        path,
        200,
        true,
        false,
      ])
    }
    await browser.post('/status/sign-in', { identity: account, credential })
    expect(emulator.requests).toEqual([])
  })
})

describe('what is sent to it', () => {
  it('is asked for with 200, and again with 401 where it was wrong', async () => {
    const browser = await inside(await start())
    for (const path of ['sign-in', 'sign-in/browser?account=plain@example.com'])
      expect(await browser.open(`/status/${path}`)).toMatchObject({ status: 200 })
    const wrong = { identity: account, credential: 'wrong' }
    expect(await browser.post('/status/sign-in', wrong)).toMatchObject({ status: 401 })
    expect(await browser.open('/status/sign-in')).toMatchObject({ status: 200 })
  })

  it('has to come from a form of its own', async () => {
    const page = await start()
    const browser = await inside(page)
    const fields = { identity: account, credential }
    const refused = await Promise.all([
      browser.post('/status/sign-in', { ...fields, _csrf: '' }),
      browser.post('/status/sign-in', { ...fields, _csrf: 'x'.repeat(43) }),
      browser.post('/status/sign-in', fields, { origin: 'https://evil.example' }),
      browser.post('/status/sign-in', fields, { origin: 'null' }),
      browser.post('/status/sign-in', fields, { 'sec-fetch-site': 'cross-site' }),
      browser.post('/status/sign-in', fields, { cookie: '' }),
      browser.open('/status/sign-in', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
      browser.post('/status/sign-in', fields, { 'content-type': 'x-application/x-www-form-urlencoded' }),
      browser.post('/status/sign-in', fields, { 'content-type': 'application/x-www-form-urlencodedx' }),
    ])
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 415, 415, 415])
    expect(emulator.requests).toEqual([])
    // A token of another visitor, or of the time before the entry.
    const stranger = browserAt(page.url)
    const { text } = await stranger.open('/status')
    const foreign = String(load(text)('[name=_csrf]').val())
    expect((await browser.post('/status/sign-in', { ...fields, _csrf: foreign })).status).toBe(403)
  })

  it('is 16 KiB at the most', async () => {
    const browser = await inside(await start())
    const token = String(
      load((await browser.open('/status')).text)('[name=_csrf]')
        .first()
        .val(),
    )
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const posted = async (length: number) =>
      browser.open('/status/sign-in', { method: 'POST', body: `_csrf=${token}&more=`.padEnd(length, 'x'), headers })
    expect([(await posted(16_384)).status, (await posted(16_385)).status]).toEqual([401, 413])
  })

  it('is not believed where the cookie is forged', async () => {
    const page = await start()
    const cookie = (await inside(page)).cookie()
    const [name = '', value = ''] = cookie.split('=')
    const [id, , last, mac] = value.split('.')
    const outside = browserAt(page.url)
    await outside.open('/status')
    const [theirs = '', , end, theirMac] = outside.cookie().split('=')[1]?.split('.') ?? []
    const forged = [
      `${id}.inside.${Number(last) + 1}.${mac}`,
      `${theirs}.inside.${end}.${theirMac}`,
      `${id}.inside.${last}.`,
      'x',
      '...',
    ]
    for (const each of forged) {
      const response = await fetch(`${page.url}/status`, { headers: { cookie: `${name}=${each}` } })
      expect(await response.text()).toContain('Who are you?')
    }
  })

  it('is refused under a name that is not this machine’s (DNS rebinding), and served under one that was given', async () => {
    const page = await start({ hosts: ['broker.home.example'] })
    const statusUnder = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        httpRequest(`${page.url}/status`, { headers: { host } }, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end()
      })
    const names = [
      'evil.example',
      'broker.home.example.evil.example',
      'localhost:1',
      '127.0.0.1',
      '[::1]:80',
      'broker.home.example:8700',
      'x y',
    ]
    expect(await Promise.all(names.map(statusUnder))).toEqual([421, 421, 200, 200, 200, 200, 421])
  })

  it('gets headers that forbid scripts, frames, caches and foreign content', async () => {
    const page = await start({ https: true })
    const { headers } = await browserAt(page.url).open('/status')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'strict-transport-security': 'max-age=31536000',
    })
    expect(headers.getSetCookie()[0]).toMatch(
      /^__Secure-owner-sso-status=.*; Path=\/status; .*HttpOnly; SameSite=Lax; Secure$/u,
    )
    const head = await browserAt(page.url).open('/status', { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect((await browserAt(page.url).open('/status', { method: 'PUT' })).status).toBe(404)
    expect((await browserAt(page.url).open('/status/nowhere')).status).toBe(404)
    expect((await browserAt(page.url).open('/elsewhere')).status).toBe(404)
    // A program that calls what is not there is told so in its own terms, a person on a page.
    const call = await browserAt(page.url).open('/api/1/vehicles')
    expect([call.status, JSON.parse(call.text)]).toEqual([
      404,
      expect.objectContaining({ code: 'ERR_BROKER_NOT_FOUND' }),
    ])
    const typed = await browserAt(page.url).open('/', { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([typed.status, typed.text.includes('Back to the status page')]).toEqual([404, true])
    expect((await browserAt(page.url).open('/statusx')).status).toBe(404)
    expect(() => statusPage({ ...page, path: 'status' })).toThrow(TypeError)
  })
})

describe('the page', () => {
  it('escapes what others named, and shows no token or secret', async () => {
    const page = await start()
    const name = 'kitchen & co'
    await page.tokens.save(account, await page.sso.login({ identity: account, credential }))
    const { refresh_token } = await page.clients.invite({ name: 'kitchen', accounts: [account, '<b>x@example.com'] })
    page.page.noteFailure(`<script>alert('${name}')</script>`, '"><img src=x>')
    // What a browser would obey, or leave out: the direction of writing, lines, half a character.
    const hostile = `\0\u001B[2J\u009B\r\n\u202E\u2066"'/../\uD83D<i>`
    await notebook(page.store, 'clients').change((notes) => {
      const clients = notes['clients'] as { readonly name: string; readonly accounts: readonly string[] }[]
      return {
        clients: clients.map((client) => ({ ...client, name: hostile, accounts: [...client.accounts, 'a\0\u202E@b'] })),
      }
    })
    const { text } = await (await inside(page)).open('/status')
    const $ = load(text)
    expect([$('script').length, $('b, i').length, $('main img').length]).toEqual([0, 0, 0])
    expect($('th[scope=row]').text()).toBe(String.raw`\u0000\u001b[2J\u009b\u000d\u000a\u202e\u2066"'/../\ud83d<i>`)
    expect($('strong').text()).toContain(String.raw`a\u0000\u202e@b`)
    expect($('#failures').parent().text()).toContain(`<script>alert('${name}')</script>`)
    expect($('td').first().text()).toBe(String.raw`${account}, <b>x@example.com, a\u0000\u202e@b`)
    const secrets = [refresh_token, await page.tokens.getAccessToken(account)]
    expect(secrets.some((secret) => text.includes(secret))).toBe(false)
    expect(text).toMatch(/(?:8 hours|7 hours 59 minutes) left · next refresh in (?:6 hours|5 hours 59 minutes)/u)
  })

  it('shows the last failures of all instances, and its own while the store is down', async () => {
    const kept = memoryTokenStore()
    const down = () => Promise.reject(new Error('down'))
    let isDown = false
    const store: TokenStore = {
      ...kept,
      read: (name) => (isDown ? down() : kept.read(name)),
      swap: (...call) => (isDown ? down() : kept.swap(...call)),
    }
    const [first, second] = [await start({ store }), await start({ store })]
    const browsers = [await inside(first), await inside(second)]
    const shown = async (): Promise<string[]> =>
      Promise.all(
        browsers.map(async (browser) =>
          load((await browser.open('/status')).text)('#failures')
            .parent()
            .find('li > span:first-child')
            .text(),
        ),
      )
    first.page.noteFailure('One.', account)
    await until(async () => (await shown())[1] === 'One.')
    second.page.noteFailure('One.', account)
    await until(async () => (await shown())[0] === 'One. 2 times')
    isDown = true
    second.page.noteFailure('Two.')
    expect(await shown()).toEqual(['One.', 'Two.One.'])
    isDown = false
    expect(await shown()).toEqual(['One. 2 times', 'Two.One. 2 times'])
  })

  it('says what it can while the store is down, and comes back with it', async () => {
    let isDown = false
    const kept = memoryTokenStore()
    const store: TokenStore = {
      ...kept,
      read: (name) => (isDown ? Promise.reject(new Error('down')) : kept.read(name)),
    }
    const page = await start({ store })
    await page.clients.invite({ name: 'kitchen', accounts: [account] })
    const browser = await inside(page)
    isDown = true
    expect(await browser.open('/status')).toMatchObject({ status: 200 })
    isDown = false
    expect((await browser.open('/status')).text).toContain('Not signed in')
    let isUnreadable = true
    const read: typeof kept.read = (...args) => (isUnreadable ? Promise.reject(new Error('down')) : kept.read(...args))
    const unlucky = await start({ store: { ...kept, read } })
    const visitor = browserAt(unlucky.url)
    const refused = await visitor.open('/status')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    isUnreadable = false
    expect(await visitor.open('/status')).toMatchObject({ status: 200 })
    isUnreadable = true
    expect(await visitor.post('/status/enter', { code: 'AAAA-AAAA' })).toMatchObject({ status: 503 })
    expect(unlucky.problems).toHaveLength(2)
  })

  it('counts what is tried with one account at all instances, before anything is sent', async () => {
    const store = memoryTokenStore()
    const browsers = [await inside(await start({ store })), await inside(await start({ store }))]
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const fields = { identity: account, credential: `wrong ${attempt}` }
      expect((await browsers[attempt % 2]!.post('/status/sign-in', fields)).status).toBe(401)
    }
    const sent = emulator.requests.length
    const { text } = await browsers[1]!.post('/status/sign-in', { identity: ` ${account.toUpperCase()}`, credential })
    expect(text).toContain('waits after a few tries. Try again in 1')
    expect(emulator.requests.length).toBe(sent)
    expect(text).not.toContain(credential)
  })

  it('ends a sign-in at another instance than it began at, and the store tells nobody what waits there', async () => {
    const store = memoryTokenStore()
    const [first, second] = [await start({ store, shareSignIns: true }), await start({ store, shareSignIns: true })]
    const at = (page: PageUnderTest, path = ''): string => `${page.url}/status${path}`
    const browser = browserAt('')
    await browser.open(at(first))
    expect((await browser.post(at(second, '/enter'), { code: await first.code() })).status).toBe(303)
    await browser.open(at(first))
    const identity = 'mfa@example.com'
    const asked = await browser.post(at(first, '/sign-in'), { identity, credential })
    expect([asked.status, asked.headers.get('location')]).toEqual([303, '/status/sign-in/passcode'])
    const [[name, { sealed, nonce }] = ['', { sealed: '', nonce: '' }], ...more] = Object.entries(
      (await notebook(store, 'sign-ins').read()) as Record<string, Readonly<Record<'sealed' | 'nonce', string>>>,
    )
    // NIST SP 800-38D, section 8.2.2: random nonces have 96 bits.
    expect(Buffer.from(nonce, 'base64url')).toHaveLength(12)
    const visitor = browser.cookie().split('=')[1]?.split('.')[0] ?? ''
    const bytes = Buffer.from(sealed, 'base64url')
    expect([more, bytes.length > 500, bytes.includes(credential), bytes.includes(identity)]).toEqual([
      [],
      true,
      false,
      false,
    ])
    expect([visitor.length, name.includes(visitor), bytes.includes(visitor)]).toEqual([22, false, false])
    const other = await inside(second)
    expect((await other.open('/status/sign-in/passcode')).headers.get('location')).toBe('/status/sign-in')

    const shown = load((await browser.open(at(second, '/sign-in/passcode'))).text)
    const factor = String(shown('[name=factor]').first().val())
    expect(
      shown('[name=factor]:checked')
        .get()
        .map((choice) => shown(choice).val()),
    ).toEqual([factor])
    const passcode = emulator.account(identity).passcode('Device #1')
    expect((await browser.post(at(second, '/sign-in/passcode'), { passcode, factor })).status).toBe(303)
    expect((await browser.open(at(first))).text).toContain(`${identity} is signed in.`)
    expect((await browser.open(at(second))).text).not.toContain(`${identity} is signed in.`)
    expect(await notebook(store, 'sign-ins').read()).toEqual({})
  })

  it('takes a form that is sent twice at once for one, and what is sent meanwhile in its turn', async () => {
    const page = await start()
    const browser = await inside(page)
    const identity = 'mfa@example.com'
    /** Sends these before the service answers the first of them. */
    const send = async (endpoint: Endpoint, path: string, ...forms: Record<string, string>[]): Promise<unknown[]> => {
      let release = (): void => undefined
      emulator.once(endpoint, { hold: new Promise<void>((resolve) => (release = resolve)) })
      const before = page.arrived()
      const answers: Promise<Answer>[] = []
      for (const form of forms) {
        answers.push(browser.post(path, form))
        await until(() => page.arrived() === before + answers.length)
      }
      release()
      return (await Promise.all(answers)).map(({ status, headers }) => headers.get('location') ?? status)
    }
    const password = { identity, credential }
    const atPasscode = '/status/sign-in/passcode'
    expect(await send('form-submission', '/status/sign-in', password, password)).toEqual([atPasscode, atPasscode])
    expect(emulator.counters.credentialChecks).toBe(1)

    const factor = String(load((await browser.open(atPasscode)).text)('[name=factor]').val())
    const wrong = { passcode: '000000', factor }
    expect(await send('mfa-verify', atPasscode, wrong, wrong)).toEqual([401, 401])
    expect(emulator.counters.passcodeChecks).toBe(1)
    const right = { passcode: emulator.account(identity).passcode('Device #1'), factor }
    expect(await send('mfa-verify', atPasscode, wrong, right, right)).toEqual([401, '/status', '/status'])
    expect(emulator.counters).toMatchObject({ passcodeChecks: 3, codeExchanges: 1 })
    // A click that comes when it is done already.
    expect((await browser.post(atPasscode, right)).headers.get('location')).toBe('/status')

    const shown = load((await browser.open(`/status/sign-in/browser?account=${account}`)).text)
    const callbackUrl = await emulator.signInByHand(String(shown('a.button').attr('href')))
    const pasted = { account, callbackUrl }
    expect(await send('token', '/status/sign-in/browser', pasted, pasted)).toEqual(['/status', '/status'])
    expect(emulator.counters.codeExchanges).toBe(2)
    expect(await page.tokens.status(account)).toMatchObject({ state: 'valid' })
  })

  it('checks a passcode once that is sent to two instances at once', async () => {
    const store = memoryTokenStore()
    const [first, second] = [await start({ store, shareSignIns: true }), await start({ store, shareSignIns: true })]
    const browser = await inside(first)
    const identity = 'mfa@example.com'
    await browser.post('/status/sign-in', { identity, credential })
    const shown = load((await browser.open('/status/sign-in/passcode')).text)
    const [factor, _csrf] = [String(shown('[name=factor]').val()), String(shown('[name=_csrf]').val())]
    const body = new URLSearchParams({ _csrf, factor, passcode: emulator.account(identity).passcode('Device #1') })
    const answers = await Promise.all(
      [first, second].map(({ url }) => {
        const headers = { cookie: browser.cookie() }
        return fetch(`${url}/status/sign-in/passcode`, { method: 'POST', body, headers, redirect: 'manual' })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual([303, 303])
    expect(emulator.counters).toMatchObject({ passcodeChecks: 1, codeExchanges: 1 })
    expect((await browser.open('/status')).text).toContain(`${identity} is signed in.`)
  })

  it('sends a password once that is posted to two instances at once, and both answer alike', async () => {
    const store = memoryTokenStore()
    const pages = [await start({ store, shareSignIns: true }), await start({ store, shareSignIns: true })] as const
    const browser = await inside(pages[0])
    const token = String(load((await browser.open('/status/sign-in')).text)('[name=_csrf]').val())
    const post = async ({ url }: PageUnderTest, fields: Record<string, string>): Promise<unknown> => {
      const [body, headers] = [new URLSearchParams({ _csrf: token, ...fields }), { cookie: browser.cookie() }]
      const response = await fetch(`${url}/status/sign-in`, { method: 'POST', body, headers, redirect: 'manual' })
      return response.headers.get('location') ?? load(await response.text())('[role=alert]').text()
    }
    /** Both, while the service has not answered the one that comes through. */
    const postToBoth = async (fields: Record<string, string>): Promise<unknown[]> => {
      let release = (): void => undefined
      emulator.once('form-submission', { hold: new Promise<void>((resolve) => (release = resolve)) })
      const before = pages.map((page) => page.arrived())
      const answers = pages.map((page) => post(page, fields))
      await until(() => pages.every((page, index) => page.arrived() > (before[index] ?? 0)))
      release()
      return Promise.all(answers)
    }
    const wrong = { identity: 'mfa@example.com', credential: 'wrong horse' }
    const [refused, alike] = await postToBoth(wrong)
    expect(refused).toContain('did not accept')
    expect(alike).toBe(refused)
    expect(emulator.counters.credentialChecks).toBe(1)
    // A click that comes when it is done already, at whichever.
    expect(await post(pages[0], wrong)).toBe(refused)
    expect(await post(pages[1], wrong)).toBe(refused)
    expect(emulator.counters.credentialChecks).toBe(1)

    const right = { identity: 'mfa@example.com', credential }
    expect(await postToBoth(right)).toEqual(['/status/sign-in/passcode', '/status/sign-in/passcode'])
    expect(emulator.counters.credentialChecks).toBe(2)
    const kept = JSON.stringify(await notebook(store, 'submissions').read())
    expect(kept).not.toMatch(/horse|mfa@/u)
  })

  it('waits no longer for a password that an instance was sending when it died', async () => {
    const store = memoryTokenStore()
    const page = await start({ store, shareSignIns: true })
    const browser = await inside(page)
    const token = String(load((await browser.open('/status/sign-in')).text)('[name=_csrf]').val())
    const visitor = browser.cookie().split('=')[1]?.split('.')[0] ?? ''
    const fields = { identity: account, credential: 'wrong horse' }
    const name = createHmac('sha256', visitor)
      .update(new URLSearchParams({ _csrf: token, ...fields }).toString())
      .digest()
    const claims = notebook(store, 'submissions')
    await claims.change(() => ({
      [name.toString('base64url')]: { until: Date.now() + 300 },
      other: { until: 'never' },
    }))
    const answer = await browser.post('/status/sign-in', fields)
    expect([answer.status, answer.text.includes('name="credential"')]).toEqual([200, true])
    expect(emulator.counters.credentialChecks).toBe(0)
    expect((await browser.post('/status/sign-in', fields)).status).toBe(401)
    expect(emulator.counters.credentialChecks).toBe(1)
  })

  it('sends nothing for an e-mail that is none, or without a password', async () => {
    const browser = await inside(await start())
    for (const identity of ['', 'ann', '@', 'ann@', '@b', 'x ann@b', 'ann@b x', 'a@b@c']) {
      const { status, text } = await browser.post('/status/sign-in', { identity, credential })
      expect([identity, status, text.includes('Enter the e-mail and the password')]).toEqual([identity, 401, true])
    }
    expect((await browser.post('/status/sign-in', { identity: account })).status).toBe(401)
    expect(emulator.requests).toEqual([])
  })

  it('takes up to eight digits for a passcode, in any spelling, and all else for a backup code', async () => {
    const browser = await inside(await start())
    await browser.post('/status/sign-in', { identity: 'mfa@example.com', credential })
    const { text } = await browser.open('/status/sign-in/passcode')
    const factor = String(load(text)('[name=factor]').first().val())
    const asked = async (passcode: string): Promise<string | undefined> => {
      const before = emulator.requests.length
      await browser.post('/status/sign-in/passcode', { passcode, factor })
      return emulator.requests.slice(before).at(-1)?.path.split('/').slice(4).join('/')
    }
    expect(await asked(' - ')).toBeUndefined()
    expect([await asked('0000-00 00'), await asked('000000000'), await asked('x0'), await asked('0x')]).toEqual([
      'mfa/verify',
      'mfa/backupcodes/attempt',
      'mfa/backupcodes/attempt',
      'mfa/backupcodes/attempt',
    ])
  })

  it('counts passcodes too, before they are sent, and begins anew once somebody is signed in', async () => {
    const identity = 'mfa@example.com'
    const page = await start()
    const browser = await inside(page)
    await browser.post('/status/sign-in', { identity, credential })
    const tries = sharedTries(page.store, 'sign-in-tries', signInTries)
    for (let n = 0; n < 4; n += 1) expect(await tries.count(identity)).toBe(0)
    const shown = load((await browser.open('/status/sign-in/passcode')).text)
    const factor = String(shown('[name=factor]').last().val())
    const submit = () =>
      browser.post('/status/sign-in/passcode', { passcode: emulator.account(identity).passcode('Device #1'), factor })
    const before = emulator.counters.passcodeChecks
    const refused = await submit()
    expect([refused.status, emulator.counters.passcodeChecks]).toEqual([401, before])
    expect(refused.text).toContain('waits after a few tries.')
    expect(load(refused.text)('[name=factor]:checked').val()).toBe(factor)
    await tries.forget(identity)
    const first = String(shown('[name=factor]').first().val())
    const passcode = emulator.account(identity).passcode('Device #1')
    const done = await browser.post('/status/sign-in/passcode', { passcode, factor: first })
    expect(done.headers.get('location')).toBe('/status')
    for (let n = 0; n < 5; n += 1) expect(await tries.count(identity)).toBe(0)
    expect(await tries.count(identity)).toBeGreaterThan(0)
  })

  it('leads back to the password once the service takes no more passcodes', async () => {
    const browser = await inside(await start())
    await browser.post('/status/sign-in', { identity: 'mfa@example.com', credential })
    const shown = load((await browser.open('/status/sign-in/passcode')).text)
    const factor = String(shown('[name=factor]').first().val())
    emulator.once('mfa-verify', { status: 400, body: { error: { code: 'ERR_MAX_VERIFICATION_ATTEMPTS' } } })
    const { status, text } = await browser.post('/status/sign-in/passcode', { passcode: '000000', factor })
    expect(status).toBe(401)
    expect(text).toContain('Too many wrong passcodes. Sign in again from the start.')
    expect(load(text)('[name=passcode]')).toHaveLength(0)
    expect(load(text)('[name=credential]')).toHaveLength(1)
    expect((await browser.open('/status/sign-in/passcode')).headers.get('location')).toBe('/status/sign-in')
  })

  it('stores nothing where another account signs in than the one that was to', async () => {
    const page = await start()
    const browser = await inside(page)
    const { text } = await browser.post('/status/sign-in', {
      account: 'regional@example.com',
      identity: account,
      credential,
    })
    expect(text).toContain(`The account that signed in is ${account}, not regional@example.com. Nothing was stored.`)
    expect(await page.tokens.status(account)).toEqual({ state: 'signed-out' })
  })
})

describe('durations', () => {
  it.each([
    [0, 'less than a second'],
    [1, '1 second'],
    [59.9, '59 seconds'],
    [60, '1 minute'],
    [119, '1 minute'],
    [3600, '1 hour'],
    [27_720, '7 hours 42 minutes'],
    [86_400 * 3 + 7200, '3 days 2 hours'],
  ])('of %d seconds read %s', (seconds, words) => {
    expect(duration(seconds)).toBe(words)
    expect(ago(1000, 1000 + seconds)).toBe(seconds < 1 ? 'just now' : `${words} ago`)
  })
})

describe('what a person meets on the way in', () => {
  it('is what the last release had, from the entrance to the end: a change of it is one for its users', async () => {
    const signedIn: string[] = []
    const page = await start({ alerts: { works: (name) => void signedIn.push(name) } })
    const identity = 'mfa@example.com'
    const browser = browserAt(page.url)
    const said: string[] = []
    const note = (what: string, { status, headers, text }: Answer): Answer => {
      const $ = load(text)
      const others = [...headers].filter(
        ([name]) => !['date', 'connection', 'keep-alive', 'transfer-encoding'].includes(name),
      )
      const values = $('input, textarea')
        .map(
          (_, field) =>
            `${$(field).attr('name')}=${$(field).is(':checked') ? 'checked ' : ''}${$(field).attr('value')}`,
        )
        .get()
      said.push(
        [
          what,
          status,
          ...others.map((line) => line.join(': ')),
          ...$('h1, .notice, main p')
            .get()
            .map((each) => $(each).text().replaceAll(/\s+/gu, ' ').trim()),
          ...values,
        ].join('\n'),
      )
      return { status, headers, text }
    }
    const open = async (path: string) => note(`GET ${path}`, await browser.open(path))
    const post = async (path: string, fields: Record<string, string>) =>
      note(`POST ${path} ${Object.keys(fields).join()}`, await browser.post(path, fields))
    await open('/status')
    await post('/status/enter', {})
    await post('/status/enter', { code: 'AAAA-AAAA' })
    await post('/status/enter', { code: await page.code() })
    // The wrong ones count no more.
    expect(await notebook(page.store, 'status-page-codes').read()).toEqual({})
    await open('/status/')
    await open('/status/style.css')
    await open('/status/icon.svg')
    await open('/status/nowhere')
    await open('/status/sign-in')
    await open(`/status/sign-in?account=${account}`)
    await open('/status/sign-in?account=sub:7')
    await open('/status/sign-in/passcode')
    await post('/status/sign-in/passcode', { passcode: '1' })
    await post('/status/sign-in', { identity: 'nobody' })
    await post('/status/sign-in', { identity: ` ${identity} `, credential: '' })
    await post('/status/sign-in', { identity: `x ${identity}`, credential })
    await post('/status/sign-in', { identity, credential: 'wrong' })
    await post('/status/sign-in', { identity, credential, account })
    await post('/status/sign-in', { identity: ` ${identity} `, credential })
    const shown = load((await open('/status/sign-in/passcode')).text)
    const factor = String(shown('[name=factor]').first().val())
    await post('/status/sign-in/passcode', { factor })
    await post('/status/sign-in/passcode', { factor, passcode: '000000' })
    await post('/status/sign-in/passcode', { factor, passcode: emulator.account(identity).passcode('Device #1') })
    await post('/status/sign-in/passcode', { factor, passcode: '000000' })
    await open('/status')
    await open('/status')
    await open('/status/sign-in/browser')
    const browsing = `/status/sign-in/browser?account=${account}`
    const link = String(load((await open(browsing)).text)('a.button').attr('href'))
    await post('/status/sign-in/browser', { callbackUrl: 'https://a.example/?code=x' })
    await open(browsing)
    await post('/status/sign-in/browser', { account, callbackUrl: ' no address ' })
    const parameters = new URL(link).searchParams
    expect(parameters.get('login_hint')).toBe(account)
    await post('/status/leave', {})
    await open('/status')
    const origin = new URL(emulator.authUrl).origin
    const constant = said
      .join('\n\n')
      .replaceAll(origin, 'https://auth.example.com')
      .replaceAll(/[\w-]{22}\.(?=(?:in|out)side)/gu, 'AN_ID.')
      .replaceAll(/(?<=side\.)\d+/gu, 'A_TIME')
      .replaceAll(/[\w-]{43,}/gu, 'A_SECRET')
      .replaceAll(new RegExp(factor, 'gu'), 'A_FACTOR')
      .replaceAll(/[\da-f]{8}-[\da-f-]{27}/gu, 'AN_ID')
      .replaceAll(/\d+ (?:hour|minute|second)s?(?: \d+ minutes?)?/gu, 'A_WHILE')
      .replaceAll(/(?<=content-length: )\d+/gu, 'A_LENGTH')
    expect(constant).toMatchSnapshot()
    expect(signedIn).toEqual([identity])
    expect(page.problems).toEqual([])
  }, 60_000)
})
