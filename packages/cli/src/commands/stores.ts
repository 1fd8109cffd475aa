/**
 * `owner-sso stores`: where token sets can live, and where they do.
 */
import type { Call } from '../call.ts'
import { exitCodes } from '../command-error.ts'
import { type Line, printData, printJson } from '../output.ts'
import { parseStoreAddress, shownAddress } from '../store-address.ts'

const kinds = [
  { kind: 'file', address: 'file:PATH', what: 'a private folder, shared by all processes of this machine' },
  { kind: 'redis', address: 'redis://HOST:PORT', what: 'Redis or Valkey, shared by many machines; rediss:// with TLS' },
  { kind: 'memory', address: 'memory:', what: 'gone when the command ends: to try a sign-in' },
] as const

export async function run({ settings }: Call): Promise<number> {
  const address = parseStoreAddress(settings.store.value)
  const inUse = shownAddress(address)
  if (settings.json) {
    await printJson({ inUse, from: settings.store.from, kinds })
    return exitCodes.ok
  }
  const lines = kinds.map(({ kind, address: form, what }): Line => {
    const mark = kind === address.kind ? { format: 'green' as const, text: '●' } : '○'
    return [mark, ` ${form.padEnd(20)}${what}`]
  })
  await printData(...lines, '', `In use: ${inUse} (${settings.store.from})`)
  return exitCodes.ok
}
