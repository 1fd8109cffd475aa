/** Who gets onto the status page, and what it answers to whom it does not know. */
import { execFile } from 'node:child_process'
import { request as httpRequest } from 'node:http'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createSso, createTokenManager, notebook, type TokenStore } from '@owner-sso/core'
import { type Endpoint, startEmulator } from '@owner-sso/emulator'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { load } from 'cheerio'
import { describeWithPrograms } from '../../../tests/support/programs.ts'
import { statusPage, tokenBroker } from '../src/index.ts'
import { type PageUnderTest, startPage } from './page-under-test.ts'
import { until } from './until.ts'

const emulator = useEmulator({ mfaAt: 'form-submission' })
const opened: PageUnderTest[] = []
const [account, credential] = ['plain@example.com', 'correct horse']

afterEach(async () => {
  jest.restoreAllMocks()
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

it('is where / redirects to, and says what to do first where there is no account yet', async () => {
  const page = await start()
  const root = await fetch(`${page.url}/`, { redirect: 'manual' })
  expect([root.status, root.headers.get('location')]).toEqual([303, '/status'])
  const { text } = await (await inside(page)).open('/status')
  expect(text).toContain('Sign an account in, then invite')
  expect(text).not.toContain('another account')
})

describe('the entrance', () => {
  it('lets in who has a code, once, in any spelling, and for good', async () => {
    const page = await start()
    const code = await page.code()
    const browser = browserAt(page.url)
    expect((await browser.open('/status')).text).toContain('Enter the code')
    expect((await browser.post('/status/enter', { code: 'AAAA-AAAA' })).status).toBe(401)
    expect((await browser.post('/status/enter', { code: ` ${code.toLowerCase().replaceAll('-', ' ')} ` })).status).toBe(
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
    // A copy of the cookie, as in a backup, is worth nothing once its owner has signed out: at any instance.
    const headers = { cookie: browser.cookie() }
    const kept = JSON.stringify(await notebook(page.store, 'status-page-visitors').read())
    expect([kept.length > 40, kept.includes(headers.cookie.split('=')[1]!)]).toEqual([true, false])
    expect((await browser.post('/status/leave', {})).status).toBe(303)
    expect((await browser.open('/status')).text).toContain('Enter the code')
    for (const { url } of [page, other])
      expect(await (await fetch(`${url}/status`, { headers })).text()).toContain('Enter the code')
  })

  it('takes no code that is older than ten minutes, and the store holds none in plain', async () => {
    const page = await start()
    const [browser, other] = [browserAt(page.url), browserAt(page.url)]
    for (const each of [browser, other]) await each.open('/status')
    const [early, late] = [await page.code(), await page.code()]
    expect(JSON.stringify(await notebook(page.store, 'status-page').read())).not.toContain(early.replaceAll('-', ''))
    const now = Date.now()
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now + 590_000)
    expect((await browser.post('/status/enter', { code: early })).status).toBe(303)
    clock.mockReturnValue(now + 601_000)
    expect((await other.post('/status/enter', { code: late })).status).toBe(401)
  })

  it('lets the owner in whatever strangers have tried, with a code that nobody can guess', async () => {
    const store = memoryTokenStore()
    const [page, other] = [await start({ store }), await start({ store })]
    const [stranger, owner] = [browserAt(page.url), browserAt(other.url)]
    for (const browser of [stranger, owner]) await browser.open('/status')
    const code = await page.code()
    const before = JSON.stringify(await notebook(store, 'status-page').read())
    for (let guess = 0; guess < 200; guess += 1)
      expect((await stranger.post('/status/enter', { code: `${guess}` })).status).toBe(401)
    // A guess costs the store nothing.
    expect(JSON.stringify(await notebook(store, 'status-page').read())).toBe(before)
    // 16 of 32 letters are 80 bits.
    expect(code).toMatch(/^[A-HJ-NP-Z2-9]{4}(?:-[A-HJ-NP-Z2-9]{4}){3}$/u)
    expect(await owner.post('/status/enter', { code })).toMatchObject({ status: 303 })
    // From the browser that has just guessed as well.
    expect(await stranger.post('/status/enter', { code: await page.code() })).toMatchObject({ status: 303 })
  })

  it('shows nothing of accounts and clients, and does nothing, for who did not come in', async () => {
    const page = await start()
    await page.clients.invite({ name: 'kitchen', accounts: [account] })
    const browser = browserAt(page.url)
    for (const path of ['', '/', '/sign-in', '/sign-in/passcode', '/sign-in/browser?account=plain@example.com']) {
      const { text, status } = await browser.open(`/status${path}`)
      expect([path, status, text.includes('Enter the code'), /kitchen|plain@/u.test(text)]).toEqual([
        path,
        200,
        true,
        false,
      ])
    }
    await browser.post('/status/sign-in', { identity: account, credential })
    await browser.post('/status/invite', { name: 'thief', account })
    await browser.post('/status/program?name=kitchen', { action: 'revoke' })
    expect(emulator.requests).toEqual([])
    expect(await page.clients.list()).toMatchObject([{ name: 'kitchen' }])
  })
})

describe('a request to the page', () => {
  it('gets the form with status 200, and with 401 after a wrong answer', async () => {
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
    const rejected = await Promise.all([
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
    expect(rejected.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 415, 415, 415])
    expect(emulator.requests).toEqual([])
    // A token of another visitor, or of the time before the entry.
    const stranger = browserAt(page.url)
    const { text } = await stranger.open('/status')
    const foreign = String(load(text)('[name=_csrf]').val())
    expect((await browser.post('/status/sign-in', { ...fields, _csrf: foreign })).status).toBe(403)
    const invitation = { name: 'thief', account }
    expect((await browser.post('/status/invite', { ...invitation, _csrf: foreign })).status).toBe(403)
    expect((await browser.post('/status/invite', invitation, { origin: 'https://evil.example' })).status).toBe(403)
    expect(await page.clients.list()).toEqual([])
  })

  it('may have a body of 16 KiB', async () => {
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
    const outside = browserAt(page.url)
    await outside.open('/status')
    const theirs = outside.cookie().split('=')[1]!
    const [hash = ''] = Object.keys(await notebook(page.store, 'status-page-visitors').read())
    const forged = [theirs, `${value}A`, value.slice(1), value.toLowerCase(), hash, hash.slice(0, 22), 'x', '']
    for (const each of forged) {
      const response = await fetch(`${page.url}/status`, { headers: { cookie: `${name}=${each}` } })
      expect(await response.text()).toContain('Enter the code')
    }
    // Nor does a forged one, or a stranger's, from elsewhere on this host shut anybody out.
    for (const each of forged) {
      const response = await fetch(`${page.url}/status`, { headers: { cookie: `${name}=${each}; a=b; ${cookie}` } })
      expect(await response.text()).toContain('Accounts')
    }
  })

  it('is rejected under a name that is not this machine’s (DNS rebinding), and served under one that was given', async () => {
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
    // Node reads the first of two.
    const two = new Promise((resolve, reject) => {
      const headers = ['Host', 'localhost', 'Host', 'evil.example']
      httpRequest(`${page.url}/status`, { headers, setHost: false }, (response) =>
        resolve(response.resume().statusCode),
      )
        .on('error', reject)
        .end()
    })
    expect(await two).toBe(400)
  })

  it.each([
    '//',
    '//evil.example/status',
    '/\\\\',
    '/%',
    '/status//',
    '/status/%zz',
    '*',
    'http://evil.example',
    '/status/..;/',
  ])('gets 404 at %s, and no error is reported', async (path) => {
    const page = await start()
    const browser = await inside(page)
    const headers = { cookie: browser.cookie(), accept: 'text/html' }
    const status = await new Promise((resolve, reject) => {
      httpRequest(page.url, { path, headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })
    expect([status, page.problems]).toEqual([404, []])
  })

  it('causes no error, whatever account it names', async () => {
    const page = await start()
    const browser = await inside(page)
    for (const named of [
      '',
      ' ',
      '\0',
      'sub:7',
      'SUB:7',
      'SUB:7@x',
      'owner-sso:x@y',
      '\uFEFF',
      '__proto__',
      'x'.repeat(3000),
    ]) {
      const query = new URLSearchParams({ account: named }).toString()
      for (const path of ['sign-in', 'sign-in/browser'])
        expect([named, (await browser.open(`/status/${path}?${query}`)).status]).toEqual([named, 200])
      const { status } = await browser.post('/status/sign-in', { account: named, identity: named, credential })
      expect([named, [401, 303].includes(status)]).toEqual([named, true])
    }
    expect(page.problems).toEqual([])
  })

  it('gets headers that forbid frames, caches, foreign content and all scripts but one', async () => {
    const page = await start({ https: true })
    const { headers } = await browserAt(page.url).open('/status')
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/u,
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
    const typed = await browserAt(page.url).open('/nowhere', { headers: { accept: 'text/html,*/*;q=0.8' } })
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
    expect([$('main script').length, $('b, i').length, $('main img').length]).toEqual([0, 0, 0])
    expect($('th[scope=row]').text()).toBe(String.raw`\u0000\u001b[2J\u009b\u000d\u000a\u202e\u2066"'/../\ud83d<i>`)
    expect($('strong').text()).toContain(String.raw`a\u0000\u202e@b`)
    expect($('#failures').parent().text()).toContain(`<script>alert('${name}')</script>`)
    expect($('td').first().text()).toBe(String.raw`${account}, <b>x@example.com, a\u0000\u202e@b`)
    const secrets = [refresh_token, await page.tokens.getAccessToken(account)]
    expect(secrets.some((secret) => text.includes(secret))).toBe(false)
    expect(text).toMatch(/(?:8 hours|7 hours 59 minutes) left · next refresh in [56] hours/u)
  })

  it('says of each account how it stands, and what went wrong', async () => {
    const page = await start()
    for (const identity of [account, 'regional@example.com'])
      await page.tokens.save(identity, await page.sso.login({ identity, credential }))
    await page.clients.invite({ name: 'kitchen', accounts: ['nobody@example.com'] })
    emulator.expireRefreshTokens('regional@example.com')
    await page.tokens.refresh('regional@example.com').catch(() => undefined)
    const browser = await inside(page)
    const rows = async (): Promise<string[]> => {
      const $ = load((await browser.open('/status')).text)
      const texts = $('[aria-labelledby=accounts] li')
        .get()
        .map((row) => $(row).text().replaceAll(/\s+/gu, ' ').trim())
      return texts.map((text) =>
        text
          .replaceAll(/\d+ hours?(?: \d+ minutes?)?/gu, 'HOURS')
          .replaceAll(/[\d-]+ [\d:]+ UTC: (.*?), by process .*?, refresh token [\w-]{8}/gu, '$1.'),
      )
    }
    expect(await rows()).toEqual([
      'nobody@example.com Not signed in The store has nothing of this account: it was emptied, or nobody ever signed in here. What to do, and what that rests on Look whether it is the right store, and what emptied it (FLUSHALL, a new volume). Then sign in. That is sure. No program gets a token until the owner signs in. Sign in',
      'plain@example.com Valid HOURS left · next refresh in HOURS',
      'regional@example.com Sign in again Likely: Another program has used a copy of this refresh token. What to do, and what that rests on Find who else has it: another client, a copy of this store. Sign in again, in one place alone. Or the service ended the session: the password was changed, or somebody signed out there. Or an older copy of the store was put back. signed-in. ended (asked, login_required). As far as the record tells, nobody here had sent that token before. The service says “The refresh_token is expired.”. The last token works for HOURS. Then no program gets one until the owner signs in. Sign in',
    ])
    // What the account says of itself is no failure as well.
    expect((await browser.open('/status')).text).toContain('None lately.')
  })

  it('says what keeps the record of an account from being read', async () => {
    const store = memoryTokenStore()
    const page = await start({ store })
    await page.clients.invite({ name: 'kitchen', accounts: [account] })
    await store.swap(account, 0, { schema: 1, state: 'sealed', key: 'k', nonce: 'n', sealed: 's' }, 'another key’s')
    const browser = await inside(page)
    const row = load((await browser.open('/status')).text)('[aria-labelledby=accounts] li').text()
    expect(row).toMatch(
      /Can’t be read now\s+The record is sealed with another key than this process has\.\s+What to do, .*\s+Give every process the key/u,
    )
  })

  it('says until when an account works whose refreshed tokens are refused, and where to sign in', async () => {
    const page = await start()
    await page.tokens.save(account, await page.sso.login({ identity: account, credential }))
    const refreshAndRefuse = async (): Promise<void> => {
      await page.tokens.refresh(account)
      await page.tokens.invalidate(account, await page.tokens.getAccessToken(account))
    }
    await refreshAndRefuse()
    const browser = await inside(page)
    const { expires_at: end = 0 } = await page.tokens.status(account)
    const row = async () => {
      const $ = load((await browser.open('/status')).text)
      const found = $('[aria-labelledby=accounts] li')
      $('time').text((_, text) => (text.endsWith(' UTC') ? ($('time').attr('datetime') ?? text) : text))
      return [found.find('.pill').text(), found.find('p:not(.small)').text(), found.find('a').attr('href')]
    }
    const signIn = '/status/sign-in?account=plain%40example.com'
    expect(await row()).toEqual([
      'Valid',
      `Refreshed tokens are refused by the owner API. Works until ${new Date(end * 1000).toISOString()}; sign in again before.Sign in`,
      signIn,
    ])
    // The one before it is refused as well, and so is the one that takes its place.
    await page.tokens.invalidate(account, await page.tokens.getAccessToken(account))
    await refreshAndRefuse()
    expect(await row()).toEqual([
      'Sign in again',
      'Refreshed tokens are refused by the owner API; sign in again.Sign in',
      signIn,
    ])
  })

  it('says since when nobody has refreshed, where that is left to others, and sends nobody to the service', async () => {
    const home = await start()
    await home.tokens.save(account, await home.sso.login({ identity: account, credential }))
    const page = await start({ store: home.store }, 'elsewhere')
    const browser = await inside(page)
    const row = async (): Promise<string[]> => {
      const found = load((await browser.open('/status')).text)('[aria-labelledby=accounts] li')
      return [found.find('.pill').text(), found.find('p').text()].map((text) =>
        text.replaceAll(/\d+ hours?(?: \d+ minutes?)?/gu, 'HOURS'),
      )
    }
    expect(await row()).toEqual(['Valid', 'HOURS left · next refresh in HOURS'])
    const { now } = Date
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 6.9 * 3_600_000)
    const [label, text] = await row()
    expect(label).toBe('Valid')
    expect(text).toMatch(/left · next refresh unknownNobody has refreshed since [-\d ]*\d\d:\d\d UTC\. Works until/u)
    clock.mockImplementation(() => now() + 9 * 3_600_000)
    expect((await row())[0]).toBe('Not refreshed')
    clock.mockRestore()
    const asked = emulator.requests.length
    const words = 'Sign in where tokens are refreshed, into the same store.'
    await browser.open('/status/sign-in')
    const typed = await browser.post('/status/sign-in', { identity: account, credential })
    const sent = await browser.open('/status/sign-in/browser')
    expect([typed.status, sent.status]).toEqual([401, 503])
    for (const answer of [typed, sent]) expect(load(answer.text)('main').text()).toContain(words)
    expect(emulator.requests).toHaveLength(asked)
    expect(page.problems).toEqual([])
  })

  it('shows the ten newest failures of a week', async () => {
    const page = await start()
    const browser = await inside(page)
    for (let n = 1; n <= 11; n += 1) {
      page.page.noteFailure(`Failure ${n}.`)
      await until(async () => (await browser.open('/status')).text.includes(`Failure ${n}.`))
    }
    const shown = async () => (await browser.open('/status')).text.match(/Failure \d+/gu) ?? []
    expect((await shown()).map((each) => each.slice(8))).toEqual(['11', '10', '9', '8', '7', '6', '5', '4', '3', '2'])
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 7 * 86_400_000 + 60_000)
    expect(await shown()).toEqual([])
  })

  it('counts a failure that comes again', async () => {
    const page = await start()
    const browser = await inside(page)
    for (const what of ['One.', 'Two.', 'One.']) page.page.noteFailure(what, account)
    const shown = load((await browser.open('/status')).text)('#failures')
      .parent()
      .find('li > span:first-child')
    expect(shown.text()).toBe('One. 2 timesTwo.')
  })

  it('says what it can while the store is down, and comes back with it', async () => {
    let isDown = false
    const kept = memoryTokenStore()
    const store: TokenStore = {
      ...kept,
      read: (name) => (isDown ? Promise.reject(new Error('down')) : kept.read(name)),
      async *accounts() {
        if (isDown) throw new Error('down')
        yield* kept.accounts?.() ?? []
      },
    }
    const page = await start({ store })
    await page.clients.invite({ name: 'kitchen', accounts: [account] })
    const browser = await inside(page)
    isDown = true
    const shown = load((await browser.open('/status')).text)
    expect(shown('[aria-labelledby=accounts]').text()).toContain('The list can’t be read now.')
    isDown = false
    expect((await browser.open('/status')).text).toContain('Not signed in')
    await kept.swap('stranger@example.com', 0, JSON.parse('{}'), 'of something else')
    const others = load((await browser.open('/status')).text)('[aria-labelledby=accounts]')
    expect(others.text()).toMatch(/Not every account can be read now\.[^]*Not signed in/u)
    let isUnreadable = true
    const read: typeof kept.read = (...args) => (isUnreadable ? Promise.reject(new Error('down')) : kept.read(...args))
    const unlucky = await start({ store: { ...kept, read } })
    const visitor = browserAt(unlucky.url)
    // A stranger is shown the entrance; of who has a cookie it is not known whether they came in.
    expect(await visitor.open('/status')).toMatchObject({ status: 200 })
    const rejected = await visitor.open('/status')
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '5'])
    isUnreadable = false
    expect(await visitor.open('/status')).toMatchObject({ status: 200 })
    isUnreadable = true
    expect(await visitor.post('/status/enter', { code: 'AAAA-AAAA' })).toMatchObject({ status: 503 })
    expect(unlucky.problems).toHaveLength(2)
  })

  it('counts what is tried with one account, in whichever browser, before anything is sent', async () => {
    const page = await start()
    const browsers = [await inside(page), await inside(page)]
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

  it('is one on the service’s page alone, where an application was registered there', async () => {
    await using official = await startEmulator({ service: 'registered' })
    const { authUrl, tokenUrl, ownerApiUrl: audience } = official
    const redirectUri = 'https://app.example.com/callback'
    const client = { clientId: 'emulated-application', clientSecret: 'emulated-secret', audience, redirectUri }
    const sso = createSso({ authUrl, tokenUrl, service: 'registered', ...client })
    const page = await start({ sso, tokens: createTokenManager({ issuer: sso, store: memoryTokenStore() }) })
    const browser = await inside(page)
    const shown = load((await browser.open('/status/sign-in')).text)
    expect([shown('[name=credential]').length, shown('main').text().includes('captcha')]).toEqual([0, false])
    expect((await browser.post('/status/sign-in', { identity: account, credential })).status).toBe(401)
    const link = load((await browser.open('/status/sign-in')).text)('a.button').attr('href')
    const callbackUrl = await official.signInByHand(String(link))
    expect((await browser.post('/status/sign-in/browser', { callbackUrl })).headers.get('location')).toBe('/status')
    expect((await browser.open('/status')).text).toContain(`${account} is signed in.`)
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
    const browser = await inside(await start())
    const wrongPassword = async (of: string) =>
      (await browser.post('/status/sign-in', { identity: of, credential: `wrong ${Math.random()}` })).text
    for (let n = 0; n < 3; n += 1) await wrongPassword(identity)
    await browser.post('/status/sign-in', { identity, credential })
    const shown = load((await browser.open('/status/sign-in/passcode')).text)
    const factor = String(shown('[name=factor]').last().val())
    const submit = (passcode: string) => browser.post('/status/sign-in/passcode', { passcode, factor })
    await submit('000000')
    const before = emulator.counters.passcodeChecks
    const passcode = emulator.account(identity).passcode('Tablet')
    const rejected = await submit(passcode)
    expect([rejected.status, emulator.counters.passcodeChecks]).toEqual([401, before])
    expect(rejected.text).toContain('waits after a few tries. Try again in 15 minutes.')
    expect(load(rejected.text)('[name=factor]:checked').val()).toBe(factor)
    for (let n = 0; n < 4; n += 1) await wrongPassword(account)
    expect((await browser.post('/status/sign-in', { identity: account, credential })).headers.get('location')).toBe(
      '/status',
    )
    for (let n = 0; n < 5; n += 1) expect(await wrongPassword(account)).not.toContain('waits after')
    expect(await wrongPassword(account)).toContain('waits after')
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

describe('a walk through the page', () => {
  it('leads from the entrance to the end, each step with its page', async () => {
    const signedIn: string[] = []
    const page = await start({ alerts: { works: (name) => void signedIn.push(name) } })
    const identity = 'mfa@example.com'
    const browser = browserAt(page.url)
    const said = ({ status, headers, text }: Answer): string =>
      `${status} ${headers.get('location') ?? load(text)('h1').text()}`
    const open = async (path: string) => said(await browser.open(`/status${path}`))
    const posted = async (path: string, fields: Record<string, string>) =>
      said(await browser.post(`/status${path}`, fields))
    expect([
      await open(''),
      await posted('/enter', { code: '' }),
      await posted('/enter', { code: await page.code() }),
      await open('/'),
      await open('/nowhere'),
      said(await browser.open('/nowhere', { headers: { accept: 'text/html', cookie: '' } })),
      await open('/invite'),
      await open('/sign-in'),
      await open(`/sign-in?account=${account}`),
      await open('/sign-in/passcode'),
      await posted('/sign-in/passcode', { passcode: '1' }),
    ]).toEqual([
      '200 Enter the code',
      '401 Enter the code',
      '303 /status',
      '200 Accounts',
      '404 That did not work',
      '404 That did not work',
      '200 Invite a program',
      '200 Sign an account in',
      '200 Sign in',
      '303 /status/sign-in',
      '303 /status/sign-in',
    ])
    expect(await posted('/sign-in', { identity: ` ${identity} `, credential })).toBe('303 /status/sign-in/passcode')
    expect(await open('/sign-in/passcode')).toBe('200 Enter your passcode')
    const factor = String(
      load((await browser.open('/status/sign-in/passcode')).text)('[name=factor]')
        .first()
        .val(),
    )
    expect(await posted('/sign-in/passcode', { passcode: '' })).toBe('401 Enter your passcode')
    const passcode = emulator.account(identity).passcode('Device #1')
    expect(await posted('/sign-in/passcode', { passcode, factor })).toBe('303 /status')
    const done = await browser.open('/status')
    expect(load(done.text)('[role=status]').text()).toContain(`${identity} is signed in.`)
    expect((await browser.open('/status')).text).not.toContain('is signed in.')
    const browsing = `/sign-in/browser?account=${account}`
    const link = String(load((await browser.open(`/status${browsing}`)).text)('a.button').attr('href'))
    expect(new URL(link).searchParams.get('login_hint')).toBe(account)
    expect(await posted('/sign-in/browser', { account, callbackUrl: ' no address ' })).toBe(
      '401 Sign in on the service’s page',
    )
    expect(await posted('/leave', {})).toBe('303 /status')
    expect(await open('')).toBe('200 Enter the code')
    expect(signedIn).toEqual([identity])
    expect(page.problems).toEqual([])
  }, 60_000)

  it('takes a backup code from its own field', async () => {
    const page = await start()
    const browser = await inside(page)
    await browser.post('/status/sign-in', { identity: 'mfa@example.com', credential })
    const [backupCode = ''] = emulator.account('mfa@example.com').backupCodes
    const done = await browser.post('/status/sign-in/passcode', { backupCode })
    expect(done.headers.get('location')).toBe('/status')
    expect(await page.tokens.status('mfa@example.com')).toMatchObject({ state: 'valid' })
  })
})

describe('the programs', () => {
  /** Opens the page of an address, and sends its form. */
  async function submit(browser: ReturnType<typeof browserAt>, path: string, fields: Record<string, string>) {
    const form = String(load((await browser.open(path)).text)('[name=form]').val())
    const send = () => browser.post(path, { form, account, ...fields })
    return { ...(await send()), again: send }
  }

  function keyIn({ text }: Answer): string {
    return load(text)('#key').text()
  }

  async function startWithAccount(): Promise<PageUnderTest> {
    const page = await start()
    await page.tokens.save(account, await page.sso.login({ identity: account, credential }))
    return page
  }

  it('get a key that is shown once: what is sent again does nothing, and says so', async () => {
    const page = await startWithAccount()
    const browser = await inside(page)
    const invited = await submit(browser, '/status/invite', { name: ' kitchen ' })
    const key = keyIn(invited)
    expect([invited.status, invited.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await page.clients.find(key)).toMatchObject({ name: 'kitchen', accounts: [account], scope: ['token'] })

    const rotated = await submit(browser, '/status/program?name=kitchen', { action: 'rotate', sure: 'yes' })
    const newKey = keyIn(rotated)
    expect([await page.clients.find(key), await page.clients.find(newKey)]).toMatchObject([
      undefined,
      { name: 'kitchen' },
    ])
    for (const { again } of [invited, rotated]) {
      const repeated = await again()
      expect([repeated.status, keyIn(repeated)]).toEqual([409, ''])
      expect(load(repeated.text)('[role=alert]').text()).toContain('was sent before, so nothing was done again')
    }
    expect(await page.clients.find(newKey)).toMatchObject({ name: 'kitchen' })

    const revoked = await submit(browser, '/status/program?name=kitchen', { action: 'revoke', sure: 'yes' })
    expect(load(revoked.text)('h1').text()).toBe('kitchen is revoked')
    expect(await page.clients.list()).toEqual([])
    // Nor is the program back after a reload of an old page.
    for (const { again } of [invited, rotated, revoked]) expect(keyIn(await again())).toBe('')
    expect(await page.clients.list()).toEqual([])
    expect((await browser.open('/status')).text).not.toContain(newKey)
  })

  it('take each form once for a day, for the visitor and the program that it was made for, however many follow', async () => {
    const page = await startWithAccount()
    const [browser, other] = [await inside(page), await inside(page)]
    for (const name of ['kitchen', 'garage']) await page.clients.invite({ name, accounts: [account] })
    const formAt = async (path: string, shownTo = browser) =>
      String(load((await shownTo.open(path)).text)('[name=form]').val())
    const form = await formAt('/status/program?name=kitchen')
    const rotation = { action: 'rotate', sure: 'yes', form }
    for (const [visitor, path] of [
      [browser, '/status/program?name=garage'],
      [browser, '/status/invite'],
      [other, '/status/program?name=kitchen'],
    ] as const)
      expect([path, (await visitor.post(path, { ...rotation, name: 'x', account })).status]).toEqual([path, 403])
    expect(keyIn(await browser.post('/status/program?name=kitchen', rotation))).not.toBe('')
    for (let sent = 0; sent < 150; sent += 1) {
      const fields = { form: await formAt('/status/invite'), name: '' }
      expect((await browser.post('/status/invite', fields)).status).toBe(400)
    }
    expect((await browser.post('/status/program?name=kitchen', rotation)).status).toBe(409)
    const late = await formAt('/status/program?name=kitchen')
    const now = Date.now()
    jest.spyOn(Date, 'now').mockReturnValue(now + 86_401_000)
    const answer = await browser.post('/status/program?name=kitchen', { ...rotation, form: late })
    expect([answer.status, load(answer.text)('main').text()]).toEqual([403, expect.stringContaining('has expired')])
    expect((await browser.post('/status/program?name=kitchen', rotation)).status).toBe(403)
  }, 30_000)

  it.each([
    ['rotate', 'Make a new key for kitchen?', 'Make a new key'],
    ['revoke', 'Revoke kitchen?', 'Revoke'],
  ])('keep their key until a person has confirmed that it is to end: %s', async (action, question, yes) => {
    const page = await startWithAccount()
    const browser = await inside(page)
    const { refresh_token } = await page.clients.invite({ name: 'kitchen', accounts: [account] })
    const asked = load((await submit(browser, '/status/program?name=kitchen', { action })).text)
    const fields = (shown: typeof asked): Record<string, string> =>
      Object.fromEntries(
        shown('main [name]')
          .get()
          .map((each) => [String(shown(each).attr('name')), String(shown(each).val())]),
      )
    expect([asked('h1').text(), asked('main button').text(), fields(asked)['action']]).toEqual([question, yes, action])
    for (const other of [{}, { action: 'x' }, { action: 'x', sure: 'yes' }]) {
      const { text } = await submit(browser, '/status/program?name=kitchen', other)
      expect(load(text)('h1').text()).toBe('kitchen')
    }
    expect(await page.clients.find(refresh_token)).toMatchObject({ name: 'kitchen' })
    expect((await browser.post('/status/program?name=kitchen', fields(asked))).status).toBe(200)
    expect(await page.clients.find(refresh_token)).toBeUndefined()
    expect((await submit(browser, '/status/program?name=kitchen', { action: 'x' })).status).toBe(
      action === 'rotate' ? 200 : 404,
    )
  })

  it('are told, with their key, that nobody is signed in to their account', async () => {
    const page = await startWithAccount()
    const browser = await inside(page)
    await page.clients.invite({ name: 'early', accounts: ['nobody@example.com'] })
    const early = await submit(browser, '/status/invite', { name: 'garage', account: 'nobody@example.com' })
    const notice = load(early.text)('[role=alert]')
    expect([keyIn(early) === '', notice.text()]).toEqual([
      false,
      expect.stringContaining('nobody@example.com is not signed in'),
    ])
    expect(notice.find('a').attr('href')).toBe('/status/sign-in?account=nobody%40example.com')
    const invited = await submit(browser, '/status/invite', { name: 'kitchen' })
    expect(load(invited.text)('[role=alert]')).toHaveLength(0)
  })

  it('keep their name and their key, whatever somebody types', async () => {
    const page = await startWithAccount()
    const browser = await inside(page)
    const { refresh_token } = await page.clients.invite({ name: 'kitchen', accounts: [account], scope: ['proxy'] })
    for (const [name, status, sentence] of [
      ['kitchen', 409, 'There is a program named kitchen already.'],
      ['', 400, 'The name must be 1 to 64 letters, digits'],
      ['<b>kitchen</b>', 400, 'The name must be 1 to 64 letters, digits'],
      ['kit\nchen', 400, 'The name must be 1 to 64 letters, digits'],
      ['k'.repeat(300), 400, 'The name must be 1 to 64 letters, digits'],
    ] as const) {
      const answer = await submit(browser, '/status/invite', { name, scope: 'proxy' })
      const $ = load(answer.text)
      expect([answer.status, $('[role=alert]').text()]).toEqual([status, expect.stringContaining(sentence)])
      expect([$('[name=name]').val(), $('[name=scope]:checked').val(), $('main b').length]).toEqual([name, 'proxy', 0])
      expect($('[role=alert] a').attr('href')).toBe(name === 'kitchen' ? '/status/program?name=kitchen' : undefined)
    }
    expect(await page.clients.find(refresh_token)).toMatchObject({ name: 'kitchen' })
    expect(await page.clients.list()).toHaveLength(1)
  })

  it.each(['rotate', 'revoke'])('that were revoked meanwhile are told to be gone: %s', async (action) => {
    const page = await startWithAccount()
    const browser = await inside(page)
    await page.clients.invite({ name: 'kitchen', accounts: [account] })
    const form = load((await browser.open('/status/program?name=kitchen')).text)('[name=form]').val()
    await page.clients.revoke('kitchen')
    const answer = await browser.post('/status/program?name=kitchen', { action, sure: 'yes', form: String(form) })
    expect([answer.status, keyIn(answer), load(answer.text)('main p').first().text()]).toEqual([
      404,
      '',
      'No program is called kitchen. It may have been revoked meanwhile.',
    ])
    expect(keyIn(await submit(browser, '/status/invite', { name: 'kitchen' }))).not.toBe('')
  })

  describeWithPrograms('curl', 'python3')('with the lines of their page', () => {
    const printedBy = async (program: string, code: string): Promise<string> =>
      (await promisify(execFile)(program, ['-c', code])).stdout.trim()

    it('get tokens and call the owner API: curl, Python, and a client of the service', async () => {
      const page = await startWithAccount()
      const { tokens, clients } = page
      await clients.invite({ name: 'kitchen', accounts: [account], scope: ['token', 'proxy'] })
      const broker = tokenBroker({ tokens, clients, proxy: { target: emulator.ownerApiUrl } })
      try {
        const { url } = await broker.listen({ port: 0 }, page.page.handler)
        const browser = await inside({ ...page, url })
        const answer = await submit(browser, '/status/program?name=kitchen', { action: 'rotate', sure: 'yes' })
        const lines = (id: string): string => load(answer.text)(`#${id}`).text()
        const accessToken = await tokens.getAccessToken(account)
        // Arguments can be read by everybody on a machine.
        for (const id of ['curl', 'curl-call']) expect(lines(id)).not.toMatch(/curl .*owner-sso-/u)
        expect(await printedBy('sh', `${lines('curl')}; echo $token`)).toBe(accessToken)
        expect(await printedBy('python3', `${lines('python')}\nprint(token)`)).toBe(accessToken)
        const vehicles = expect.stringMatching(/Daily[\s\S]*"?count"?['"]?: ?2/u)
        expect(await printedBy('sh', lines('curl-call'))).toEqual(vehicles)
        expect(await printedBy('python3', lines('python-call'))).toEqual(vehicles)

        // As docs/reference/compatibility.md says that such clients refresh and call.
        const [address = '', refresh_token = ''] = lines('client').match(/(?<=: ).*/gu) ?? []
        const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token })
        const refreshed = await fetch(`${address}/oauth/token`, { method: 'POST', body })
        expect(await refreshed.json()).toMatchObject({ access_token: accessToken })
        const [api = '', bearer = ''] = lines('client-call').match(/(?<=: ).*/gu) ?? []
        const headers = { authorization: `Bearer ${bearer}` }
        expect(await (await fetch(`${api}/api/1/vehicles`, { headers })).json()).toMatchObject({ count: 2 })
      } finally {
        await broker.close()
      }
    })
  })
})
