/**
 * Pages of the recorded shapes with their parts in another order, quoted in other ways, in templates, among decoys, or missing:
 * each login ends in tokens, or in an error that says what came. None calls the right password wrong, and no secret goes to a
 * form that does not ask for it.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { createSso, SsoError } from '../../src/index.ts'
import { runs } from '../../../../tests/support/runs.ts'
import {
  type CannedAnswer,
  goodTokens,
  html,
  json,
  redirectToCallback,
  type SmallService,
  startSmallService,
} from '../small-service.ts'

const identity = 'owner@example.com'
const credential = 'correct horse'
const passcode = '012345'

let service: SmallService
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())

/** How a page writes things down. */
interface Hand {
  readonly quote: string
  readonly shuffle: number
  readonly upperCase: boolean
  readonly inTemplate: boolean
  readonly decoys: readonly string[]
}

type Attributes = readonly (readonly [name: string, value: string])[]

function input({ quote, shuffle, upperCase }: Hand, attributes: Attributes): string {
  const from = shuffle % attributes.length
  const turned = [...attributes.slice(from), ...attributes.slice(0, from)]
  const written = turned.map(([name, value]) => {
    const escaped = value
      .replaceAll('&', '&amp;')
      .replaceAll(quote === "'" ? "'" : '"', quote === "'" ? '&#39;' : '&quot;')
    // What an unquoted value can't hold is quoted all the same.
    const sign = quote === '' && !/^[\w-]+$/u.test(value) ? '"' : quote
    return `${upperCase ? name.toUpperCase() : name}=${sign}${escaped}${sign}`
  })
  return `<${upperCase ? 'INPUT' : 'input'} ${written.join(' ')}>`
}

const hiddenOf = (hand: Hand, values: Attributes): string[] =>
  values.map(([name, value]) =>
    input(hand, [
      ['type', 'hidden'],
      ['name', name],
      ['value', value],
    ]),
  )

/** The parts of a page in the order that the hand has, within a form; decoys around it. */
function formOf(hand: Hand, parts: readonly string[]): string {
  const from = hand.shuffle % Math.max(1, parts.length)
  const turned = [...parts.slice(from), ...parts.slice(0, from)]
  const inner = turned.join(hand.shuffle % 2 === 0 ? '\n' : '</div><div>')
  const form = `<form method="post" id="form"><div>${inner}</div></form>`
  const placed = hand.inTemplate ? `<script type="text/html">${form}</script>` : form
  const middle = hand.shuffle % (hand.decoys.length + 1)
  return [...hand.decoys.slice(0, middle), placed, ...hand.decoys.slice(middle)].join('\n')
}

const document = (title: string, body: string): string =>
  `<!doctype html><html><head><title>${title}</title></head><body>${body}</body></html>`

const refusalText = '<script>var messages = {"c":"We could not sign you in"}</script>'
/** What looks like a part of a form, and does not belong to the login's. Each value in it says so. */
const decoys = [
  '<!-- <form><input type="hidden" name="_csrf" value="decoy"><input name="credential"></form> -->',
  '<script>var old = \'<input type="hidden" name="_csrf" value="decoy">\'; // _csrf = "decoy"</script>',
  '<form action="/search"><input name="q"><input type="hidden" name="_csrf" value="decoy"></form>',
  '<form action="/newsletter"><input type="email" name="email"><input type="hidden" name="list" value="decoy"></form>',
  '<form action="/account/new"><input name="identity"><input type="hidden" name="_csrf" value="decoy"><input type="password" name="new_password"></form>',
  '<form action="/account/new"><input name="identity"><input type="hidden" name="_csrf" value="decoy"><input type="password" name="credential"></form>',
  '<div hidden><form><input type="hidden" name="_csrf" value="decoy"><input type="hidden" name="credential" value="decoy"></form></div>',
  '<script type="text/html"><form><input type="hidden" name="_csrf" value="decoy"></form><p>Wrong password</p></script>',
  '<script>var messages = {"a":"Captcha does not match","b":"Your account has been locked","c":"We could not sign you in"}</script>',
  refusalText,
  '<p>Wrong password? <a href="/forgot">Account locked?</a></p>',
  '<p style="display:none" role="alert">We could not sign you in</p>',
  '<footer>This site is protected by reCAPTCHA</footer><script src="https://www.google.com/recaptcha/api.js"></script>',
  '<noscript>Please enable JavaScript</noscript><template><input name="credential"></template>',
]

const hand: fc.Arbitrary<Hand> = fc.record({
  quote: fc.constantFrom('"', "'", ''),
  shuffle: fc.nat(60),
  upperCase: fc.boolean(),
  inTemplate: fc.boolean(),
  decoys: fc.subarray(decoys, { maxLength: 5 }),
})

const value = fc.constantFrom('csrf-1', 'a&b"c', "it's", '<tag>', 'x=1;y')
const field = (name: string, type = 'text'): Attributes => [
  ['type', type],
  ['name', name],
]

/** A service of pages, and what it lets pass. */
interface Course {
  readonly csrf: string
  readonly login: Hand
  readonly identityFirst: boolean
  /** Parts of the page that are missing. */
  readonly without: readonly ('_csrf' | 'transaction_id' | 'credential' | 'identity')[]
  readonly second: Hand
  /** What answers the form. */
  readonly answer: 'code' | 'passcode' | 'login page' | 'identity page' | 'unknown' | 'empty'
  readonly status: 200 | 401
  readonly passcodePage: Hand
  readonly passcodeCsrf: 'input' | 'script' | 'none'
  readonly factors: 'data' | 'factors' | 'bare' | 'none'
  readonly afterwards: 'code' | 'transaction alone' | 'login page' | 'passcode page'
}

const course: fc.Arbitrary<Course> = fc.record({
  csrf: value,
  login: hand,
  identityFirst: fc.boolean(),
  without: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.subarray(['_csrf', 'transaction_id', 'credential', 'identity'] as const, { maxLength: 2 }),
    },
  ),
  second: hand,
  answer: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('code' as const, 'passcode' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('login page' as const, 'identity page' as const, 'unknown' as const, 'empty' as const),
    },
  ),
  status: fc.constantFrom(200 as const, 401 as const),
  passcodePage: hand,
  passcodeCsrf: fc.constantFrom('input' as const, 'script' as const, 'none' as const),
  factors: fc.constantFrom('data' as const, 'factors' as const, 'bare' as const, 'none' as const),
  afterwards: fc.constantFrom(
    'code' as const,
    'transaction alone' as const,
    'login page' as const,
    'passcode page' as const,
  ),
})

function loginPage({ csrf, without }: Course, by: Hand, asks: readonly string[]): string {
  const all: Attributes = [
    ['_csrf', csrf],
    ['_phase', asks.includes('credential') ? 'authenticate' : 'identity'],
    ['transaction_id', 't-1'],
    ['cancel', ''],
  ]
  const fields = asks
    .filter((name) => !without.some((missing) => missing === name))
    .map((name) => input(by, field(name, name === 'credential' ? 'password' : 'email')))
  const hidden = hiddenOf(
    by,
    all.filter(([name]) => !without.some((missing) => missing === name)),
  )
  return document('Sign in', formOf(by, [...hidden, ...fields]))
}

function passcodePage({ passcodePage: by, passcodeCsrf }: Course): string {
  const hidden = passcodeCsrf === 'input' ? hiddenOf(by, [['_csrf', 'csrf-p']]) : []
  const script = `<script>var transaction_id = "t-1"${passcodeCsrf === 'script' ? ', _csrf = "csrf-p"' : ''};</script>`
  // A form that asks for the credential in sight would make it another page.
  const own = {
    ...by,
    decoys: by.decoys.filter((decoy) => !decoy.includes('name="credential"') || decoy.includes('<!--')),
  }
  return document('Passcode', script + formOf(own, [...hidden, input(by, field('passcode'))]))
}

/** Plays a course: the pages in their order, and a log of what every page on show asked for when a form came. */
function play(plan: Course): { wrong: string[] } {
  const wrong: string[] = []
  let shown: 'identity' | 'credential' | 'passcode' | 'other' = plan.identityFirst ? 'identity' : 'credential'
  let verified = false
  const first = loginPage(plan, plan.login, plan.identityFirst ? ['identity'] : ['identity', 'credential'])
  const second = loginPage(plan, plan.second, ['identity', 'credential'])
  // A text of a refusal that only the page after the submission carries would be the service's own word.
  const saidBefore = plan.second.decoys.filter((decoy) => decoy !== refusalText || plan.login.decoys.includes(decoy))
  const again = loginPage(plan, { ...plan.second, decoys: saidBefore }, ['identity', 'credential'])

  function submitted(body: string): CannedAnswer | 'code' {
    const form = new URLSearchParams(body)
    if (body.includes('decoy')) wrong.push(`a decoy came back: ${body}`)
    if (form.has('credential') && shown !== 'credential' && !verified)
      wrong.push(`the password went to the ${shown} form`)
    if (form.has('passcode')) wrong.push('the passcode went to a form')
    if (shown === 'identity' && form.get('identity') === identity) {
      shown = 'credential'
      return html(second)
    }
    if (verified) return answerAfterwards(form)
    if (plan.answer === 'code') return 'code'
    if (plan.answer === 'passcode') {
      shown = 'passcode'
      return html(passcodePage(plan))
    }
    shown = 'other'
    if (plan.answer === 'login page') return html(again, plan.status)
    if (plan.answer === 'identity page') return html(loginPage(plan, plan.second, ['identity']), plan.status)
    return plan.answer === 'unknown'
      ? html(document('Terms', formOf(plan.second, [input(plan.second, field('agree'))])), plan.status)
      : { status: plan.status }
  }

  function answerAfterwards(form: URLSearchParams): CannedAnswer | 'code' {
    if (plan.afterwards === 'code') return 'code'
    if (plan.afterwards === 'login page') return html(second, plan.status)
    return plan.afterwards === 'transaction alone' && [...form.keys()].join('') === 'transaction_id'
      ? 'code'
      : html(passcodePage(plan))
  }

  const list = [{ id: 'f-1' }]
  const lists = { data: { data: list }, factors: { factors: list }, bare: list, none: { devices: list } }
  service.answer({
    loginPage: html(first),
    formSubmission(request, response, authUrl) {
      const answer = submitted(request.body)
      const redirect = redirectToCallback()
      if (answer !== 'code') return answer
      return typeof redirect === 'function' ? redirect(request, response, authUrl) : redirect
    },
    token: json(goodTokens),
    factors: json(lists[plan.factors]),
    verify() {
      verified = true
      return json({ data: { valid: true } })
    },
  })
  return { wrong }
}

/** Where nothing is missing, a course like this ends in tokens. */
function isPassable({ without, answer, factors, afterwards }: Course): boolean {
  if (without.length > 0) return false
  if (answer === 'code') return true
  return answer === 'passcode' && factors !== 'none' && (afterwards === 'code' || afterwards === 'transaction alone')
}

/** What was sent, and every value of a page. */
const secret = /correct|horse|owner@|csrf-|t-1|012345|decoy/u
const ends = new Map<string, number>()

it('ends every login in tokens or a typed error, never in a wrong password or with a secret in the wrong form', async () => {
  await fc.assert(
    fc.asyncProperty(course, async (plan) => {
      service.requests.length = 0
      const { wrong } = play(plan)
      const sso = createSso({ authUrl: service.authUrl, timeout: 5000 })
      const outcome: unknown = await sso.login({ identity, credential, passcode }).catch((error: unknown) => error)
      const end = outcome instanceof SsoError ? outcome.code : outcome instanceof Error ? String(outcome) : 'tokens'
      ends.set(end, (ends.get(end) ?? 0) + 1)
      expect(wrong).toEqual([])
      expect(end).toMatch(/^(?:tokens|ERR_SSO_\w+)$/u)
      // The login page again is probably a wrong password, and no more than that.
      expect(outcome).not.toMatchObject({ code: 'ERR_SSO_INVALID_CREDENTIALS', reason: 'rejected' })
      expect(end).not.toBe('ERR_SSO_FIREWALL_CHALLENGE')
      expect(isPassable(plan) ? end : 'tokens').toBe('tokens')
      expect(outcome instanceof Error ? outcome.message : '').not.toMatch(secret)
      const posts = service.requests.filter(({ method }) => method === 'POST')
      expect(posts.length).toBeLessThanOrEqual(6)
    }),
    { numRuns: runs(80) },
  )
  expect([...ends.keys()]).toEqual(expect.arrayContaining(['tokens', 'ERR_SSO_UNEXPECTED_RESPONSE']))
}, 3_600_000)
