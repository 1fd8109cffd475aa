import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { ownerOfEmail, profileOf } from '../src/owner.ts'

/** Another way to say it: letter by letter. */
function folded(text: string): string {
  const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
  return Array.from(text.trim(), (letter) => (capitals.includes(letter) ? letter.toLowerCase() : letter)).join('')
}

describe('the name of an account', () => {
  it('is the e-mail in lower case, without the spaces around it', () => {
    expect(ownerOfEmail('  Jo.Owner@Example.COM\n')).toEqual({
      account: 'jo.owner@example.com',
      email: 'Jo.Owner@Example.COM',
    })
  })

  it('is not that of a look-alike: the Kelvin sign is no k, the dotted capital I no i', () => {
    expect(ownerOfEmail('mi\u212Ae@example.com').account).not.toBe('mike@example.com')
    expect(ownerOfEmail('m\u0130ke@example.com').account).not.toContain('mi')
  })

  it('is one for two e-mails only if they differ in the case of A to Z and in surrounding spaces', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        expect(ownerOfEmail(one).account === ownerOfEmail(other).account).toBe(folded(one) === folded(other))
      }),
    )
  })

  it('stands in the profile, with the e-mail where one is known', () => {
    expect(profileOf({ account: 'subject-1' })).toEqual({
      provider: 'owner-sso',
      id: 'subject-1',
      displayName: 'subject-1',
    })
    expect(profileOf(ownerOfEmail('Jo@example.com')).emails).toEqual([{ value: 'Jo@example.com' }])
  })
})
