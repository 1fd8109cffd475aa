/** Switches that tokens meet: how they rotate, how long they live, what they look like. */
import { expect } from '@jest/globals'
import {
  logIn,
  logInAndRefresh,
  refresh,
  refreshTwice,
  refreshTwiceWithinMinutes,
  signInAgain,
  tokens,
  type Row,
} from './calls.ts'

export const tokenRows: readonly Row[] = [
  { when: 'rotation: single-use', set: (to) => to.change({ rotation: 'single-use' }), call: refresh, ends: tokens },
  { when: 'rotation: same', set: (to) => to.change({ rotation: 'same' }), call: refreshTwice, ends: tokens },
  { when: 'rotation: omit', set: (to) => to.change({ rotation: 'omit' }), call: refreshTwice, ends: tokens },
  { when: 'reuse: refuse', set: (to) => to.change({ reuse: 'refuse' }), call: refreshTwice, ends: signInAgain },
  { when: 'reuse: grace', set: (to) => to.change({ reuse: 'grace' }), call: refreshTwice, ends: tokens },
  {
    when: 'reuse: grace that is over',
    set: (to) => to.change({ reuse: 'grace' }),
    call: refreshTwiceWithinMinutes,
    ends: signInAgain,
  },
  {
    when: 'refreshTokenLifetime',
    set: (to) => to.change({ refreshTokenLifetime: 0 }),
    call: logInAndRefresh,
    ends: signInAgain,
  },
  {
    when: 'accessTokenLifetime',
    set: (to) => to.change({ accessTokenLifetime: 60 }),
    call: logIn,
    ends: { expires_at: expect.closeTo(Date.now() / 1000 + 60, -2) },
  },
  {
    when: 'accessTokenFormat',
    set: (to) => to.change({ accessTokenFormat: 'opaque' }),
    call: logIn,
    ends: {
      access_token: expect.stringMatching(/^[\w-]+$/u),
      expires_at: expect.closeTo(Date.now() / 1000 + 28_800, -2),
    },
  },
  { when: 'expiresIn', set: (to) => to.change({ expiresIn: 'soon' }), call: logIn, ends: tokens },
  { when: 'expiresIn, left out', set: (to) => to.change({ expiresIn: null }), call: refresh, ends: tokens },
  {
    when: 'a code that is exchanged too late',
    set: (to) => to.once('form-submission', () => to.clock.advance(301)),
    call: logIn,
    ends: { code: 'ERR_SSO_TOKEN_REJECTED', error: 'invalid_grant' },
  },
]
