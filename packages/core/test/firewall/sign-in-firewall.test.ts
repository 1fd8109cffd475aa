/** One sign-in, and all who share what they know of the firewall. */
import { describe, expect, it } from '@jest/globals'
import { signInFirewall } from '../../src/firewall/sign-in-firewall.ts'
import { FirewallChallengeError, type FirewallState } from '../../src/index.ts'

const authUrl = 'https://auth.example.com'

describe('a sign-in asks all who share what they know of a block', () => {
  /** Each lets a sign-in pass, or fails it; a number is the time that it names after a challenge. */
  function states(...answers: readonly (Error | number | undefined)[]) {
    const calls: string[] = []
    const sharing = answers.map((answer, index): FirewallState => ({
      enter: async (origin) => {
        calls.push(`enter ${index} ${origin}`)
        if (answer instanceof Error) throw answer
        return { giveBack: async () => void calls.push(`give back ${index}`) }
      },
      challenged: async () => (answer instanceof Error ? undefined : answer),
      passed: async () => void calls.push(`passed ${index}`),
    }))
    return { calls, gate: signInFirewall(sharing) }
  }

  it('once for each instance, and again after a probe that was given back', async () => {
    const { calls, gate } = states(undefined, undefined)
    const probe = await gate.enter(authUrl, 'login-page')
    expect(await gate.enter(authUrl, 'login-page')).toBeUndefined()
    await gate.enter('https://b', 'login-page')
    await probe?.giveBack()
    expect(await gate.enter(authUrl, 'login-page')).toBeDefined()
    await gate.passed(authUrl)
    const entered = (origin: string): string[] => [`enter 0 ${origin}`, `enter 1 ${origin}`]
    expect(calls).toEqual([
      ...entered(authUrl),
      ...entered('https://b'),
      'give back 0',
      'give back 1',
      ...entered(authUrl),
      'passed 0',
      'passed 1',
    ])
  })

  it('gives back what it was given before one said no, and tells that in its own step', async () => {
    const blocked = states(undefined, new FirewallChallengeError(7, { step: 'token-manager' }), undefined)
    for (let count = 0; count < 2; count += 1) {
      blocked.calls.length = 0
      await expect(blocked.gate.enter(authUrl, 'mfa-verify')).rejects.toMatchObject({
        nextAttemptAt: 7,
        step: 'mfa-verify',
        requestSent: false,
      })
      expect(blocked.calls).toEqual([`enter 0 ${authUrl}`, `enter 1 ${authUrl}`, 'give back 0'])
    }
    const failure = new TypeError('x')
    await expect(states(failure).gate.enter(authUrl, 'login-page')).rejects.toBe(failure)
  })

  it('waits as long as the most careful of them says', async () => {
    const error = new FirewallChallengeError(100, { step: 'login-page', status: 403 })
    const told = async (...answers: readonly (number | undefined)[]): Promise<unknown> =>
      states(...answers).gate.challenged(authUrl, error)
    expect(await told(150, undefined, 120)).toMatchObject({
      nextAttemptAt: 150,
      step: 'login-page',
      status: 403,
      requestSent: true,
    })
    expect(await told(50)).toMatchObject({ nextAttemptAt: 100 })
    expect(await told()).toMatchObject({ nextAttemptAt: 100 })
  })
})
