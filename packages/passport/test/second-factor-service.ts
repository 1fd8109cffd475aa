/** The service with an account of two factors, one of a single factor and one of none, for a test file; a strategy for it, and its passcodes. */
import type { Emulator } from '@owner-sso/emulator'
import { useEmulator } from '@owner-sso/emulator/jest'
import { OwnerSsoStrategy, type StrategyOptions } from '../src/index.ts'

export const mfa = { identity: 'mfa@example.com', credential: 'correct horse' }
export const single = { identity: 'single@example.com', credential: 'correct horse' }

/** A passcode, and the id of the factor that it is from. */
interface Passcode {
  readonly passcode: string
  readonly factor: string
}

interface SecondFactorService {
  readonly emulator: Emulator
  readonly newStrategy: (options?: StrategyOptions) => OwnerSsoStrategy
  /** The current one, of the first factor or of the one with this name. */
  readonly current: (account: { readonly identity: string }, name?: string) => Passcode
  readonly passcodeOf: (account: { readonly identity: string }) => string
  /** The phone, with a passcode that is wrong. */
  readonly mistyped: () => Passcode
}

export function useSecondFactorService(): SecondFactorService {
  const factors = [
    { name: 'Phone', totpSecret: 'JBSWY3DPEHPK3PXP' },
    { name: 'Tablet', totpSecret: 'KRSXG5CTMVRXEZLU' },
  ]
  const accounts = [
    { ...mfa, factors, backupCodes: ['BACKUP001', 'BACKUP002'] },
    { ...single, totpSecret: 'GEZDGNBVGY3TQOJQ' },
    { identity: 'plain@example.com', credential: 'correct horse' },
  ]
  const emulator = useEmulator({ firewall: false, accounts })

  function current({ identity }: { readonly identity: string }, name?: string): Passcode {
    const account = emulator.account(identity)
    const factor = account.factors.find((known) => name === undefined || known.name === name)
    if (!factor) throw new Error(`no factor ${name} of ${identity}`)
    return { passcode: account.passcode(factor.id), factor: factor.id }
  }

  return {
    emulator,
    newStrategy: (options) => new OwnerSsoStrategy({ authUrl: emulator.authUrl, ...options }),
    current,
    passcodeOf: (account) => current(account).passcode,
    mistyped() {
      const { passcode, factor } = current(mfa, 'Phone')
      return { passcode: passcode === '000000' ? '111111' : '000000', factor }
    },
  }
}
