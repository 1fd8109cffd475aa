import { beforeAll, describe, expect, it } from '@jest/globals'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { demoAccounts, startEmulator, type EmulatorOptions, type Strictness } from '@owner-sso/emulator'
import type { Json } from './openapi/description.ts'
import { failVerifications, LOCKED, signInByTheBook, signInOtherwise } from './openapi/document-traffic.ts'
import { contradictions, type Evidence } from './openapi/evidence.ts'
import { meetCaptcha, openAmiss, signInByTransaction, signInFormEncoded } from './openapi/lenient-traffic.ts'
import { losses } from './openapi/losses.ts'
import { outlandish, withoutEachField } from './openapi/refusals.ts'
import { recordTraffic } from './openapi/traffic.ts'

async function describedAt(authUrl: string): Promise<Json> {
  const answer = await fetch(`${authUrl}/_emulator/openapi.json`)
  return JSON.parse(await answer.text())
}

async function gather(strictness: Strictness, options: EmulatorOptions = {}): Promise<Evidence> {
  await using emulator = await startEmulator({ strictness, accounts: [...demoAccounts, LOCKED], ...options })
  const description = await describedAt(emulator.authUrl)
  using traffic = recordTraffic('/oauth2/', '/captcha')
  await signInByTheBook(emulator)
  await signInOtherwise(emulator)
  await failVerifications(emulator)
  if (strictness === 'lenient') {
    await signInFormEncoded(emulator)
    await signInByTransaction(emulator)
    await meetCaptcha(emulator)
    await openAmiss(emulator)
  }
  const logins = traffic.exchanges.slice()
  for (const request of withoutEachField(description, logins)) await fetch(request)
  const all = traffic.exchanges.length
  for (const request of outlandish(description, emulator.authUrl)) await fetch(request)
  return {
    description,
    logins,
    incomplete: traffic.exchanges.slice(logins.length, all),
    outlandish: traffic.exchanges.slice(all),
  }
}

describe.each(['document', 'lenient'] as const)('the description of the service, strictness %s', (strictness) => {
  let evidence: Evidence
  beforeAll(async () => {
    evidence = await gather(strictness)
  })

  it('has nothing that a linter objects to', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      // The service is on loopback: that is the point.
      rules: { 'no-server-example.com': 'off' },
    })
    const source = JSON.stringify(evidence.description)
    const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' })
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  })

  it('says of every request and answer of real logins what they were, and nothing that no traffic has shown', () => {
    expect(evidence.logins.length).toBeGreaterThan(60)
    expect(evidence.incomplete.length).toBeGreaterThan(30)
    expect([...contradictions(evidence)]).toEqual([])
  })
})

it('can lose no field, parameter, header, status, media type, alternative or word without being found out', async () => {
  const evidence = await gather('document')
  expect([...contradictions(evidence)]).toEqual([])
  const all = losses(evidence.description)
  expect(all.length).toBeGreaterThan(200)
  const unnoticed = all.filter(({ description }) => contradictions({ ...evidence, description }).next().done)
  expect(unnoticed.map(({ name }) => name)).toEqual([])
}, 120_000)

it('follows the options: the names of hidden inputs, and the fields of token answers', async () => {
  const evidence = await gather('document', {
    hiddenInputs: { rename: { _phase: 'phase', _process: 'process' }, extra: { fingerprint: '1' } },
    rotation: 'omit',
    expiresIn: null,
  })
  expect([...contradictions(evidence)]).toEqual([])
})
