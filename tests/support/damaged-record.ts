/** What a token manager does over a store in which somebody has damaged a record. */
import { expect, jest } from '@jest/globals'
import { createTokenManager, firewallRecordName, type TokenSet, type TokenStore } from '@owner-sso/token-manager'

/**
 * Damages what is known of the firewall of an instance, and expects that two processes refresh, and that one warning tells.
 * Then damages the record of an account in the same way, and expects that nobody writes over it.
 *
 * @param instance - its address: a process warns once of each
 * @param damage - damages the record of that name
 */
export async function expectDamageIsMended(
  store: TokenStore,
  instance: string,
  damage: (name: string) => Promise<unknown>,
): Promise<void> {
  const issued = (name: number): TokenSet => ({
    access_token: `access-${name}`,
    refresh_token: `refresh-${name}`,
    token_type: 'Bearer',
    expires_at: Date.now() / 1000 + 28_800,
    auth_url: instance,
  })
  let refreshes = 0
  const sso = { refresh: async () => issued((refreshes += 1)) }
  const processes = [1, 2].map(() => createTokenManager({ issuer: sso, store, minRefreshInterval: 0 }))
  const name = firewallRecordName(instance)
  const account = `ann@${new URL(instance).hostname}`
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  try {
    await store.swap(name, 0, { schema: 1, state: 'firewall', challenges: 0, noted_at: 0, wait: 0 }, 'the first')
    await damage(name)
    await expect(store.read(name)).rejects.toMatchObject({ reason: 'corrupt' })
    await processes[0]?.save(account, issued(0))
    for (const tokens of processes) {
      await tokens.refresh(account)
      expect(await tokens.getAccessToken(account)).toBe(`access-${refreshes}`)
    }
    expect(refreshes).toBe(2)
    expect(await store.read(name)).toMatchObject({ record: { state: 'firewall' } })
    const warnings = warn.mock.calls.filter(([message]) => String(message).includes(name))
    expect(warnings).toHaveLength(1)
  } finally {
    warn.mockRestore()
  }
  await damage(account)
  const late = createTokenManager({ issuer: sso, store })
  await expect(late.getAccessToken(account)).rejects.toMatchObject({ reason: 'corrupt' })
  await expect(late.refresh(account)).rejects.toMatchObject({ reason: 'corrupt' })
  await expect(store.read(account)).rejects.toMatchObject({ reason: 'corrupt' })
  expect(refreshes).toBe(2)
}
