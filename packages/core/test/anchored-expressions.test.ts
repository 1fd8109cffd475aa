/** What is taken only as a whole: each expression that is anchored has what it takes, with a bad head and a bad tail. */
import { UnsecuredJWT } from 'jose'
import { describe, expect, it } from '@jest/globals'
import { isJsonType, parseJson } from '../src/http/json-object.ts'
import { createSso, identifyOwner, stackFrames, TokenRejectedError, UnreachableError } from '../src/index.ts'
import { findLoginForm } from '../src/pages/login-form.ts'
import { readHtmlPage } from '../src/pages/html-page.ts'
import { readPasscodePage } from '../src/pages/passcode-page.ts'
import { scriptLiterals } from '../src/pages/script-literals.ts'
import { receivedTokens } from '../src/steps/token-response.ts'
import { quotedNames, quotedWords } from '@owner-sso/token-manager/support'

const authUrl = 'https://auth.example.com'

it.each([
  ['application/json', true],
  ['Application/JSON ; charset=utf-8', true],
  ['application/problem+json', true],
  ['x-application/json', false],
  ['text/application/json', false],
  ['application/jsonp', false],
  ['application/json-seq', false],
  ['application/+json', false],
  [undefined, false],
])('the media type %j is JSON: %s', (type, isJson) => {
  expect(isJsonType(type)).toBe(isJson)
})

it('a byte order mark is passed over at the beginning alone', () => {
  expect(parseJson('\uFEFF{"a":"\uFEFF"}')).toEqual({ a: '\uFEFF' })
  expect(parseJson('{}\uFEFF')).toBeUndefined()
  expect(parseJson('\uFEFF\uFEFF{}')).toBeUndefined()
})

it.each([
  ['invalid_grant', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  ['', false],
  ['Secret invalid_grant', false],
  ['invalid_grant: secret', false],
  ['invalid_grant\n', false],
])('the token endpoint’s error %j is shown: %s', (error, isShown) => {
  expect(new TokenRejectedError(error).error).toBe(isShown ? error : 'unknown')
})

it.each([
  ['ECONNRESET', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  ['', false],
  ['at ECONNRESET', false],
  ['ECONNRESET of secret', false],
])('a cause with the code %j keeps it: %s', (code, isKept) => {
  const { cause } = new UnreachableError('', { cause: Object.assign(new Error('secret'), { code }) })
  expect(cause).toMatchObject(isKept ? { code } : { message: 'unknown cause' })
  expect(Reflect.get(Object(cause), 'code')).toBe(isKept ? code : undefined)
})

describe('the token response', () => {
  const service = { accessTokenLifetime: 300, now: () => 0 }
  const received = (fields: object) =>
    receivedTokens(
      new Map(Object.entries({ access_token: 'access', refresh_token: 'refresh', ...fields })),
      service,
      authUrl,
    )

  it.each([
    ['aA0-._~+/', true],
    ['aA0==', true],
    ['x'.repeat(16_384), true],
    ['x'.repeat(16_385), false],
    ['', false],
    ['=', false],
    ['a=b', false],
    [' access', false],
    ['access ', false],
    ['access\r\nX-Evil: 1', false],
  ])('an access token and an id_token %.20j are taken: %s', (text, isTaken) => {
    expect(received({ access_token: text })?.access_token).toBe(isTaken ? text : undefined)
    expect(received({ id_token: text })?.id_token).toBe(isTaken ? text : undefined)
  })

  it.each([
    ['re fresh~', true],
    ['x'.repeat(8192), true],
    ['x'.repeat(8193), false],
    ['', false],
    ['\u0007refresh', false],
    ['refresh\n', false],
    ['refresh\u00FC', false],
  ])('a refresh token %.20j is taken: %s', (text, isTaken) => {
    expect(received({ refresh_token: text })?.refresh_token).toBe(isTaken ? text : undefined)
  })
})

describe('the owner that an id_token names', () => {
  const claims = {
    iss: authUrl,
    aud: 'ownerapi',
    exp: Math.ceil(Date.now() / 1000) + 600,
    sub: 'S-1',
    email_verified: true,
  }
  const ownerOf = async (more: object): Promise<object> => {
    const idToken = new UnsecuredJWT({ ...claims, ...more }).encode()
    const tokens = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_at: 0, auth_url: authUrl }
    const sso = { refresh: () => Promise.reject(new Error('a refresh')) }
    return (await identifyOwner(sso, { ...tokens, token_type: 'Bearer', id_token: idToken })).owner
  }

  it.each([
    ['jo@example.com', true],
    [`${'x'.repeat(309)}@example.com`.slice(-320), true],
    [`${'x'.repeat(309)}@example.com`, false],
    ['sub:jo@example.com', false],
    ['@example.com', false],
    ['jo@', false],
    ['jo@example.com@evil.example', false],
    ['sub:a jo@example.com', false],
  ])('is the e-mail %.40j: %s', async (email, isTaken) => {
    expect(await ownerOf({ email })).toMatchObject({ account: isTaken ? email : 'sub:S-1' })
  })

  it.each([
    ['!~', true],
    ['x'.repeat(255), true],
    ['x'.repeat(256), false],
    ['', false],
    [' S-1', false],
    ['S-1 ', false],
    ['S-\u00FC', false],
  ])('is the subject %.20j: %s', async (sub, isTaken) => {
    const owner = await ownerOf({ sub }).catch((error: unknown) => error)
    expect(owner).toMatchObject(isTaken ? { account: `sub:${sub}` } : { code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
  })
})

it.each([
  ['x', true],
  [`x${' '.repeat(255)}`, true],
  [`x${' '.repeat(256)}`, false],
  [' fleet/1', false],
  ['fleet/1\n', false],
  ['fleet/\u00FC', false],
])('userAgent %.20j is taken: %s', (userAgent, isTaken) => {
  const create = (): string => {
    try {
      createSso({ authUrl, userAgent })
      return 'taken'
    } catch (error) {
      return String(error)
    }
  }
  expect(create()).toMatch(isTaken ? 'taken' : 'TypeError: userAgent must be visible ASCII text')
})

describe('what an error quotes', () => {
  it.each([
    ['identity', 'identity'],
    ['_csrf', '_csrf'],
    ['user[0].name', 'user[0].name'],
    ['1identity', '…'],
    ['identity1', '…'],
    ['__csrf', '…'],
    ['x'.repeat(24), 'x'.repeat(24)],
    ['x'.repeat(25), '…'],
    ['identity secret', '…'],
    [' identity', '…'],
  ])('the name %j as %j', (name, shown) => {
    expect(quotedNames([name])).toBe(shown)
  })

  it.each([
    ['Try again', 'Try again'],
    ['(“Try” again!)', '(“Try” again!)'],
    ['Try 7again', 'Try …'],
    ['Try again7', 'Try …'],
    ['Try 12', 'Try 12'],
    ['Try 123', 'Try …'],
    ['Try a-b-c-d', 'Try a-b-c-d'],
    ['Try a-b-c-d-e', 'Try …'],
  ])('the words %j as %j', (words, shown) => {
    expect(quotedWords(words)).toBe(shown)
  })

  it('16 words, 12 names, and of more that there are more', () => {
    const letters = 'abcdefghijklmnopq'.split('')
    expect(quotedWords(letters.slice(0, 16).join(' '))).toBe(letters.slice(0, 16).join(' '))
    expect(quotedWords(letters.join(' '))).toBe(`${letters.slice(0, 16).join(' ')} …`)
    expect(quotedNames(letters.slice(0, 12))).toBe(letters.slice(0, 12).join(', '))
    expect(quotedNames(letters.slice(0, 13))).toBe(`${letters.slice(0, 12).join(', ')}, …`)
  })
})

describe('a page', () => {
  const field = '<form method="post"><input name="passcode"></form>'
  const page = (markup: string) => {
    const read = readHtmlPage(markup)
    if (read === 'beyond limits') throw new Error('beyond limits')
    return read
  }

  it.each([
    ['_csrf', true],
    ['csrf', true],
    ['csrfToken', true],
    ['_csrf_token', true],
    ['old_csrf', false],
    ['csrf2', false],
    ['xcsrf', false],
  ])('gives the passcode page its token as %s: %s', (name, isTaken) => {
    const { csrf } = readPasscodePage(page(`${field}<script>var ${name} = "c"</script>`)) ?? {}
    expect(csrf).toBe(isTaken ? 'c' : undefined)
  })

  it.each([
    ['transaction_id', true],
    ['transactionId', true],
    ['oldtransaction_id', false],
    ['transaction_ids', false],
  ])('names its transaction as %s: %s', (name, isTaken) => {
    const { transactionId } = readPasscodePage(page(`${field}<script>var ${name} = "t"</script>`)) ?? {}
    expect(transactionId).toBe(isTaken ? 't' : undefined)
  })

  it.each([
    ['"c"', ['c']],
    ['"c c"', []],
    ['" c"', []],
    ['"c "', []],
    ['"\u00FCc"', []],
    [`"${'c'.repeat(1022)}"`, ['c'.repeat(1022)]],
    [`"${'c'.repeat(1023)}"`, []],
    ['"c', []],
    [`'c"`, []],
  ])('has the literal %.20s in a script: %.20j', (literal, values) => {
    expect(scriptLiterals([`_csrf = ${literal}`], (name) => name === '_csrf')).toEqual(values)
  })

  it.each([
    ['g-recaptcha-response', true],
    ['h-captcha-response-1', true],
    ['my-g-recaptcha-response', false],
  ])('wants a captcha where a field is called %s: %s', (name, isWanted) => {
    const login = `<form method="post"><input name="identity"><input name="credential" type="password"><textarea name="${name}" hidden></textarea></form>`
    expect(findLoginForm(page(login))?.captcha).toBe(isWanted)
  })
})

it('the frames of a stack are whole lines of it', () => {
  const error = new Error('secret')
  const frame = 'at run (file:///app/main.js:1:2)'
  error.stack = [
    'Error: secret',
    `    ${frame}`,
    'at file:///app/main.js:3:4',
    'secret at run (file:///app/main.js:1:2)',
    'at run (file:///app/main.js:1:2) secret',
  ].join('\n')
  expect(stackFrames(error)).toBe(`${frame}\nat file:///app/main.js:3:4`)
})
