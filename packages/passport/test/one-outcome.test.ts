import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import * as fc from 'fast-check'
import { anyText } from '../../../tests/support/any-text.ts'
import { OwnerSsoStrategy } from '../src/index.ts'
import { newSession, recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const emulator = useEmulator({ firewall: false })

const fieldNames = ['identity', 'credential', 'passcode', 'factor', 'backupCode', 'callbackUrl']
/** What a JSON or an extended urlencoded body parser makes of a hostile body. */
const anyValue = fc.oneof(
  fc.constantFrom('plain@example.com', 'mfa@example.com', 'correct horse', '000000', '', ' '),
  anyText({ maxLength: 200 }),
  fc.constant('x'.repeat(100_000)),
  fc.jsonValue(),
)
const anyBody = fc.oneof(
  fc.dictionary(fc.constantFrom(...fieldNames, '__proto__', 'constructor', 'toString'), anyValue),
  fc.constant(JSON.parse('{"__proto__": {"identity": "plain@example.com", "credential": "correct horse"}}')),
  fc.jsonValue(),
  fc.constantFrom(undefined, Buffer.from('identity=plain@example.com')),
)

describe.each(['form', 'browser'] as const)('mode %s', (mode) => {
  it('ends every request, whatever its body, in exactly one outcome, and pass is never it', async () => {
    const strategy = new OwnerSsoStrategy({ authUrl: emulator.authUrl, mode })
    const session = newSession()
    await fc.assert(
      fc.asyncProperty(anyBody, fc.boolean(), async (body, withSession) => {
        const outcomes = await recordedOutcomes(strategy, requestWith(body, withSession ? session : null))
        expect(outcomes).toHaveLength(1)
        expect(outcomes[0]?.kind).not.toBe('pass')
      }),
      { numRuns: 150 },
    )
    expect({}).not.toHaveProperty('identity')
  })
})
