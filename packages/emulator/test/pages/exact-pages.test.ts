/** Each limit at it and one beyond it: captchas, the challenge page, and how a form is read. */
import { expect, it } from '@jest/globals'
import type { ServiceResponse } from '../../src/http/service-response.ts'
import { captchaPicture, captchaProblem } from '../../src/pages/captcha.ts'
import { challengeResponse } from '../../src/pages/challenge-page.ts'
import { readForm } from '../../src/pages/read-form.ts'

it('the picture of a captcha has its letters side by side, each turned otherwise', () => {
  const at = (x: number, turn: number, letter: string): string =>
    `<text x="${x}" y="26" rotate="${turn}" fill="currentColor" font-size="22">${letter}</text>`
  const letters = [at(12, -14, 'A'), at(34, 0, 'B'), at(56, 14, 'C'), at(78, -14, 'D')].join('')
  expect(captchaPicture('ABCD').markup).toBe(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 36" role="img" aria-label="captcha">${letters}</svg>`,
  )
})

it('a captcha is solved by its letters in any case; a wrong answer, or none, shows a new one', () => {
  const answer = (captcha: string | undefined, typed: string | null, kind: 'picture' | 'hcaptcha' = 'picture') => {
    const session = { captcha } as Parameters<typeof captchaProblem>[0]
    const problem = captchaProblem(session, { captcha: true } as Parameters<typeof captchaProblem>[1], typed, kind)
    return [problem, session.captcha === captcha, /^[A-FHK-NPRT-Z]{5}$/u.test(session.captcha ?? '')]
  }
  expect(answer('ABCDE', ' abcde ')).toEqual([undefined, true, true])
  expect(answer('ABCDE', 'ABCDEF')).toEqual(['Captcha does not match', false, true])
  expect(answer('ABCDE', null)).toEqual(['Recaptcha is required', false, true])
  expect(answer(undefined, 'x')).toEqual(['Captcha does not match', false, true])
  expect(answer('ABCDE', 'ABCDE', 'hcaptcha')).toEqual(['Captcha does not match', false, true])
  const unasked = { captcha: undefined } as unknown as Parameters<typeof captchaProblem>[0]
  expect([captchaProblem(unasked, undefined, null, 'picture'), unasked.captcha]).toEqual([undefined, undefined])
})

function textOf({ body }: ServiceResponse): string {
  return typeof body === 'string' ? body : ''
}

it('the challenge page names a reference of its own, and the moment', () => {
  const before = Math.floor(Date.now() / 1000)
  const [, moment = ''] = /&#35;18&#46;[\da-f]{8}&#46;(\d+)&#46;[\da-f]{8}\n/u.exec(textOf(challengeResponse())) ?? []
  expect(Number(moment)).toBeGreaterThanOrEqual(before)
  expect(Number(moment)).toBeLessThanOrEqual(Date.now() / 1000)
  const scripted = challengeResponse('script', 503)
  expect([scripted.status, scripted.body]).toEqual([503, expect.stringMatching(/"\/[\da-f]{24}\?async"/u)])
})

it('a form is read as a browser reads it', () => {
  const page = `<p><input type="hidden" name="outside" value="x"></p><form method="post" action="/a&amp;b">
    <input type="hidden" name="_csrf" value="1&lt;2"><input type="hidden" name="empty">
    <input type="hidden" name="off" value="x" disabled><input type="checkbox" name="box" value="x"><input type="submit">
    <script><input type="hidden" name="script" value="x"></script>
    <input type="email" name="identity"><input name="plain"></form>
    <input type="hidden" name="after" value="x">
    <script>var transaction_id = "t\\"1";</script><script>var _csrf = "other";</script>`
  expect(readForm(page)).toEqual({
    action: '/a&b',
    hidden: new Map(Object.entries({ _csrf: '1<2', empty: '', transaction_id: 't"1' })),
    fields: new Set(['identity', 'plain']),
    message: undefined,
  })
  const said = (more: string): unknown => readForm(`<form><input name="x"></form>${more}`)
  expect(said('<p class="message" role="alert">a &amp; b</p>')).toMatchObject({ action: undefined, message: 'a & b' })
  expect(said('<script>var messages = {"_":["first","second"]};</script>')).toMatchObject({ message: 'first' })
  expect(said('<script>var messages = {};</script>')).toMatchObject({ message: undefined })
  expect(readForm('<input name="x">')).toBeUndefined()
})
