/** An account that is signed in, for tests of what comes after a login: in this process, in a fifth of the command's time. */
import { createSso, createTokenManager } from '@owner-sso/core'
import type { Emulator } from '@owner-sso/emulator'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { credential, type Machine } from './machine.ts'

/** Who is signed in at the default store. */
export async function accountsAt({ tokensFolder: path }: Machine): Promise<string[]> {
  const refresh = (): Promise<never> => Promise.reject(new Error('Nothing is refreshed here.'))
  const names: string[] = []
  for await (const name of createTokenManager({ issuer: { refresh }, store: fileTokenStore({ path }) }).accounts())
    names.push(name)
  return names.toSorted()
}

/** Stores what a login brings where the command would. */
export async function storeLogin(machine: Machine, emulator: Emulator, account: string): Promise<void> {
  const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
  const tokens = createTokenManager({ issuer: sso, store: fileTokenStore({ path: machine.tokensFolder }) })
  await tokens.save(account, await sso.login({ identity: account, credential }))
}
