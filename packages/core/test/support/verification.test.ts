/** Where secrets may travel. */
import { describe, expect, it } from '@jest/globals'
import { isLoopback, mayCarrySecrets, verificationProblem } from '../../src/index.ts'

const authUrl = 'https://auth.example.com'

describe('secrets travel', () => {
  it.each([
    ['https://a.example', true, false],
    ['http://a.example', false, false],
    ['http://localhost:1', true, true],
    ['http://[::1]:1', true, true],
    ['http://127.0.0.1', true, true],
    ['http://127.255.255.255', true, true],
    ['https://127.0.0.1', true, true],
    ['http://127.0.0.1.example', false, false],
    ['http://localhost.example', false, false],
    ['ftp://localhost', false, true],
  ])('to %s: %s, which is on this machine: %s', (address, may, isHere) => {
    expect([mayCarrySecrets(new URL(address)), isLoopback(new URL(address))]).toEqual([may, isHere])
  })

  it('to nobody where this process, or the agent, was told not to check certificates', () => {
    const [there, here] = [new URL(authUrl), new URL('https://localhost')]
    expect(verificationProblem(there)).toBeUndefined()
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    try {
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
      expect(verificationProblem(there)).toContain('NODE_TLS_REJECT_UNAUTHORIZED is 0')
      expect(verificationProblem(here)).toBeUndefined()
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '1'
      expect(verificationProblem(there)).toBeUndefined()
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    }
  })
})
