/** The service with an account of two factors and one of a single factor, and their passcodes. */
import { type Emulator, startEmulator } from '@owner-sso/emulator'

export const mfa = { identity: 'mfa@example.com', credential: 'correct horse' }
export const single = { identity: 'single@example.com', credential: 'correct horse' }

export function startSecondFactorService(): Promise<Emulator> {
  const factors = [
    { name: 'Phone', totpSecret: 'JBSWY3DPEHPK3PXP' },
    { name: 'Tablet', totpSecret: 'KRSXG5CTMVRXEZLU' },
  ]
  const accounts = [
    { ...mfa, factors, backupCodes: ['BACKUP001', 'BACKUP002'] },
    { ...single, totpSecret: 'GEZDGNBVGY3TQOJQ' },
  ]
  return startEmulator({ firewall: false, accounts })
}

/** The current passcode of an account, and the id of the factor that it is from. */
export function currentPasscode(
  emulator: Emulator,
  { identity }: { identity: string },
  name?: string,
): { passcode: string; factor: string } {
  const account = emulator.accounts.find((known) => known.identity === identity)
  const factor = account?.factors.find((known) => name === undefined || known.name === name)
  if (!account || !factor) throw new Error(`no factor of ${identity}`)
  return { passcode: account.passcode(factor.id), factor: factor.id }
}
