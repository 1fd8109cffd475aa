/** Which answers are the firewall's page, and none of the service. */
import { describe, expect, it } from '@jest/globals'
import { type AnsweredPage, isFirewallChallenge } from '../../src/firewall/challenge-page.ts'

describe('the firewall’s page', () => {
  const page = (more: Partial<AnsweredPage>): AnsweredPage => ({
    title: '',
    text: '',
    scripts: ['run()'],
    forms: [],
    looseInputs: [],
    ...more,
  })
  const input = (name: string, type = 'text') => ({ name, type })

  it.each<[number, AnsweredPage | 'beyond limits' | undefined, boolean]>([
    [429, undefined, true],
    [428, undefined, false],
    [200, 'beyond limits', false],
    [200, page({}), true],
    [200, page({ text: 'x'.repeat(60) }), true],
    [200, page({ text: 'x'.repeat(61) }), false],
    [200, page({ scripts: [] }), false],
    [200, page({ title: 'Sign in' }), false],
    [200, page({ title: 'Challenge' }), true],
    [200, page({ title: 'A challenge' }), false],
    [200, page({ forms: [{ inputs: [input('a', 'hidden')] }] }), true],
    [200, page({ forms: [{ inputs: [input('a')] }] }), false],
    [403, page({ title: 'Access Denied', scripts: [] }), true],
    ...['identity', 'credential', 'passcode', 'backup_code', 'captcha'].flatMap(
      (name): [number, AnsweredPage, boolean][] => [
        [403, page({ title: 'Access Denied', looseInputs: [input(name)] }), false],
        [403, page({ title: 'Access Denied', forms: [{ inputs: [input(name)] }] }), false],
      ],
    ),
    [403, page({ title: 'Access Denied', looseInputs: [input('other')] }), true],
    [200, page({ text: 'Incident ID: 7', scripts: [] }), true],
  ])('is told by status %i and %j: %s', (status, answered, isChallenge) => {
    expect(isFirewallChallenge(status, answered)).toBe(isChallenge)
  })
})
