import { ownerOfEmail } from '@owner-sso/core'
import { describe, expect, it } from '@jest/globals'
import { profileOf } from '../src/owner.ts'

describe('the profile of an owner', () => {
  it('has the account’s name, and the e-mail where one is known', () => {
    expect(profileOf({ account: 'sub:1' })).toEqual({ provider: 'owner-sso', id: 'sub:1', displayName: 'sub:1' })
    expect(profileOf(ownerOfEmail('Jo@example.com')).emails).toEqual([{ value: 'Jo@example.com' }])
  })
})
