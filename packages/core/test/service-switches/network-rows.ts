/** Switches between client and service: the firewall, cookies, slowness, and answers that are spoiled. */
import type { TokenSet } from '../../src/index.ts'
import {
  logIn,
  logInWithAllCookies,
  refresh,
  refreshAfterALoss,
  signInAgain,
  tokens,
  unusable,
  type Row,
} from './calls.ts'

export const networkRows: readonly Row[] = [
  {
    when: 'the firewall now',
    set: (to) => to.firewall.block(600),
    call: logIn,
    ends: { code: 'ERR_SSO_FIREWALL_CHALLENGE', step: 'login-page', status: 403 },
  },
  {
    when: 'the firewall after two requests',
    set: (to) => {
      to.firewall.lift()
      to.change({ firewall: { maxRequests: 2 } })
    },
    call: logIn,
    ends: { code: 'ERR_SSO_FIREWALL_CHALLENGE', step: 'code-exchange' },
  },
  { when: 'no firewall', set: (to) => to.change({ firewall: false }), call: logIn, ends: tokens },
  { when: 'latency', set: (to) => to.change({ latency: 20 }), call: logIn, ends: tokens },
  {
    when: 'latency beyond the patience',
    set: (to) => to.change({ latency: 60_000 }),
    call: refresh,
    options: { timeout: 100 },
    ends: { code: 'ERR_SSO_TIMEOUT' },
  },
  {
    when: 'a connection cut before the token was rotated',
    set: (to) => to.once('refresh', { drop: 'before-commit' }),
    call: refreshAfterALoss,
    ends: tokens,
  },
  {
    when: 'a connection cut after the token was rotated',
    set: (to) => to.once('refresh', { drop: 'after-commit' }),
    call: refreshAfterALoss,
    ends: signInAgain,
  },
  { when: '5xx', set: (to) => to.always('token', { status: 503 }), call: logIn, ends: { ...unusable, status: 503 } },
  {
    when: 'a truncated body',
    set: (to) => to.always('token', { bodyLength: 60 }),
    call: logIn,
    ends: { ...unusable, step: 'code-exchange' },
  },
  {
    when: 'a body whose connection breaks',
    set: (to) => to.always('token', { drop: 'mid-body' }),
    call: logIn,
    ends: { code: 'ERR_SSO_UNREACHABLE', requestSent: true },
  },
  {
    when: 'an oversized body',
    set: (to) => to.always('login-page', { bodyLength: 10_000_000 }),
    call: logIn,
    ends: { ...unusable, step: 'login-page' },
  },
  {
    when: 'a body of any size that fits',
    set: (to) => to.always('token', { bodyLength: 100_000 }),
    call: logIn,
    ends: tokens,
  },
  {
    when: 'cookies of the firewall',
    set: () => undefined,
    call: logInWithAllCookies,
    ends: tokens,
  },
  {
    when: 'a function that bends an answer',
    set: (to) => to.once<TokenSet>('token', (answer) => void Reflect.deleteProperty(answer.body, 'access_token')),
    call: logIn,
    ends: { ...unusable, step: 'code-exchange' },
  },
]
