/** Each named scenario of the emulator: how a login or a refresh of core ends in it. */
import { describe, expect, it } from '@jest/globals'
import { scenarios, type ScenarioName } from '@owner-sso/emulator'
import { useEmulator } from '@owner-sso/emulator/jest'
import { createSso, type Sso, type TokenSet } from '../../src/index.ts'
import { type Call, logIn, plain, refresh, refreshAfterALoss, signInAgain, tokens, unusable } from './calls.ts'

const emulator = useEmulator()

const endings: Readonly<Record<ScenarioName, readonly [call: Call, ends: object]>> = {
  'rotation-lost': [refreshAfterALoss, signInAgain],
  'refreshed-tokens-refused': [callAroundARefresh, [401, 200]],
  'refreshed-tokens-refused-403': [callAroundARefresh, [403, 200]],
  'refreshed-tokens-for-three-hours': [callLongAfterARefresh, [200, 401, 200]],
  'refresh-ends-old-token': [callAroundARefresh, [200, 401]],
  'firewall-block': [logIn, { code: 'ERR_SSO_FIREWALL_CHALLENGE', status: 403 }],
  'slow-service': [refresh, { code: 'ERR_SSO_TIMEOUT' }],
  'service-down': [logIn, { ...unusable, status: 503 }],
  'sessions-ended': [refresh, signInAgain],
  'client-rejected': [refresh, { code: 'ERR_SSO_TOKEN_REJECTED', error: 'invalid_client' }],
}

describe('a scenario', () => {
  it.each(Object.keys(scenarios) as ScenarioName[])('%s', async (name) => {
    const [call, ends] = endings[name]
    const usual = { authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] }
    const held = await createSso(usual).login({ identity: plain, credential: 'correct horse' })
    emulator.applyScenario(name)
    const sso = createSso({ ...usual, timeout: name === 'slow-service' ? 300 : 15_000 })
    const outcome = await call(sso, held, emulator).catch((error: unknown) => error)
    expect(outcome).toMatchObject(ends)
  })

  it('is undone by reset()', async () => {
    for (const name of Object.keys(scenarios) as ScenarioName[]) emulator.applyScenario(name)
    emulator.reset()
    const sso = createSso({ authUrl: emulator.authUrl })
    const held = await sso.login({ identity: plain, credential: 'correct horse' })
    expect(await sso.refresh(held)).toMatchObject(tokens)
    expect(await callOwnerApi(held)).toBe(200)
  })
})

async function callOwnerApi({ access_token }: TokenSet): Promise<number> {
  const headers = { authorization: `Bearer ${access_token}` }
  return (await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).status
}

/** What the owner API says of the token of a refresh, and of the one before it. */
async function callAroundARefresh(sso: Sso, held: TokenSet): Promise<unknown> {
  const fresh = await sso.refresh(held)
  return [await callOwnerApi(fresh), await callOwnerApi(held)]
}

async function callLongAfterARefresh(sso: Sso, held: TokenSet): Promise<unknown> {
  const fresh = await sso.refresh(held)
  const before = await callOwnerApi(fresh)
  emulator.clock.advance(4 * 3600)
  return [before, await callOwnerApi(fresh), await callOwnerApi(held)]
}
