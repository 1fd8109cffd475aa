/** What the pages of a sign-in show, and what they never do. */
import { describe, expect, it } from '@jest/globals'
import { load } from 'cheerio'
import { ago, frame, passcodeCard, servicePageCard, signInCard, timeLeft, waitingTime } from '../src/index.ts'

const hostile = '"><b>x</b>\u202E\n'
const base = '/status'
const csrfToken = 'a-token'
const factors = ['one', 'two'].map((id) => ({ id, name: `Phone ${hostile}`, factorType: 'token:software' }))
const url = 'https://auth.example.com/authorize?redirect_uri=https%3A%2F%2Fa.example%2Fcallback'
const problem = { title: hostile, text: hostile }

describe('every page', () => {
  it.each([
    ['sign-in', signInCard({ base, csrfToken, title: hostile, account: hostile, identity: hostile, problem })],
    ['passcode', passcodeCard({ base, csrfToken, identity: hostile, factors, problem })],
    ['service page', servicePageCard({ base, csrfToken, account: hostile, url, problem })],
  ])('shows names that others chose as text on one line, and sends its form token: %s', async (_, content) => {
    const html = String(await frame({ site: 'A site', home: '/', assets: '/assets', title: hostile }, content))
    const $ = load(html)
    expect($('b')).toHaveLength(0)
    expect($('h1, h2, strong, label, p').text()).not.toMatch(/\u202E/u)
    const forms = $('form').get()
    expect(forms.map((form) => $(form).find('[name=_csrf]').val())).toEqual(forms.map(() => csrfToken))
    expect(forms.map((form) => $(form).attr('action')?.startsWith(`${base}/sign-in`))).toEqual(forms.map(() => true))
  })
})

it('the passcode’s page names one device, and lets people choose of several', async () => {
  const page = async (chosen?: string, count = 2) =>
    load(String(await passcodeCard({ base, csrfToken, identity: 'a', factors: factors.slice(0, count), chosen })))
  expect((await page())('[name=factor]:checked').val()).toBe('one')
  expect((await page('two'))('[name=factor]:checked').val()).toBe('two')
  expect((await page('gone'))('[name=factor]:checked').val()).toBe('one')
  expect((await page(undefined, 1))('[name=factor][type=hidden]').val()).toBe('one')
  expect((await page(undefined, 0))('[name=factor]')).toHaveLength(0)
})

describe('seconds in words', () => {
  it.each([
    [-1, 'less than a second', '1 second'],
    [0.2, 'less than a second', '1 second'],
    [59.5, '59 seconds', '1 minute'],
    [60, '1 minute', '1 minute'],
    [61, '1 minute', '2 minutes'],
    [3599, '59 minutes', '1 hour'],
    [7 * 3600 + 41.5 * 60, '7 hours 41 minutes', '7 hours 42 minutes'],
    [86_399, '23 hours 59 minutes', '1 day'],
    [90_001, '1 day 1 hour', '1 day 2 hours'],
  ])('%p: the time left is at least %p, and a wait of %p is enough', (seconds, left, wait) => {
    expect([timeLeft(seconds), waitingTime(seconds)]).toEqual([left, wait])
  })

  it('times in the past are counted from now', () => {
    expect([ago(1000, 1000.9), ago(1000, 1061), ago(1001, 1000)]).toEqual(['just now', '1 minute ago', 'just now'])
  })
})
