/**
 * The accounts the service knows, and what each of them needs to sign in.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { AccountOptions, AccountSwitches, FactorOptions, Region } from '../options/account-options.ts'
import type { Clock } from './clock.ts'
import { switchAccount } from '../options/check-options.ts'
import { Secret, TOTP } from 'otpauth'

/** An account as tests and demos see it. */
export interface EmulatorAccount {
  readonly identity: string
  readonly credential: string
  readonly region: Region
  readonly locked: boolean
  readonly captcha: boolean | 'after-submission'
  readonly factors: readonly { readonly id: string; readonly name: string }[]
  /** Backup codes not used yet. */
  readonly backupCodes: readonly string[]
  /**
   * The current passcode by the emulator's clock, of the first factor or of the one with this id or name.
   *
   * @throws {TypeError} The account has no such factor.
   */
  passcode(factor?: string): string
  /**
   * Locks it, shows it a captcha, moves it to the other region, from its next request on.
   *
   * @throws {TypeError} A switch is unknown or wrong; the message names it.
   */
  change(switches: AccountSwitches): void
}

/** An account as the service has it: what can be switched is written, and its factors can be checked. */
export interface Account extends EmulatorAccount {
  region: Region
  locked: boolean
  captcha: boolean | 'after-submission'
  backupCodes: readonly string[]
  readonly factors: readonly Factor[]
  /** The `sub` of its tokens. */
  readonly subject: string
}

function createAccount(options: AccountOptions, clock: Clock): Account {
  const { identity, credential, totpSecret, backupCodes = [] } = options
  const { factors = totpSecret === undefined ? [] : [{ name: 'Device #1', totpSecret }] } = options
  const account: Account = {
    identity,
    credential,
    ...initialSwitches(options),
    factors: factors.map(createFactor),
    backupCodes,
    subject: createHash('sha256').update(identityKey(identity)).digest('hex').slice(0, 32),
    change: (switches) => switchAccount(account, switches),
    passcode(wanted) {
      const factor = account.factors.find(({ id, name }) => wanted === undefined || wanted === id || wanted === name)
      if (!factor) throw new TypeError(`${identity} has no ${wanted === undefined ? '' : 'such '}factor`)
      return factor.passcode(clock.now())
    },
  }
  return account
}

export function createAccountDirectory(options: readonly AccountOptions[], clock: Clock) {
  const all = options.map((each) => createAccount(each, clock))
  const byIdentity = new Map(all.map((account) => [identityKey(account.identity), account]))
  return {
    all,
    find: (identity: string): Account | undefined => byIdentity.get(identityKey(identity)),
    /** Each account's switches are as they were at the start, and what was used may be used again. */
    reset(): void {
      for (const [index, account] of all.entries()) {
        const { backupCodes = [], ...given }: Partial<AccountOptions> = options[index] ?? {}
        Object.assign(account, initialSwitches(given), { backupCodes })
        for (const factor of account.factors) factor.forget()
      }
    },
  }
}

function initialSwitches(options: Partial<AccountOptions>): Required<AccountSwitches> {
  return { locked: options.locked ?? false, captcha: options.captcha ?? false, region: options.region ?? 'home' }
}

function identityKey(identity: string): string {
  return identity.trim().toLowerCase()
}

export const stepSeconds = 30

export interface Factor {
  readonly id: string
  readonly name: string
  readonly activatedAt: string
  passcode(now: number): string
  check(passcode: string, now: number): 'valid' | 'wrong' | 'replayed'
  forget(): void
}

export function createFactor({ id = randomUUID(), name, totpSecret }: FactorOptions): Factor {
  // Six digits of SHA-1, and one step of drift, are what TOTP has where nothing else is said.
  const totp = new TOTP({ secret: Secret.fromBase32(totpSecret), period: stepSeconds })
  const usedSteps = new Set<number>()
  return {
    id,
    name,
    activatedAt: '2024-05-01T09:30:00.000Z',
    passcode: (now) => totp.generate({ timestamp: now * 1000 }),
    check(passcode, now) {
      // The library compares bytes, and throws where six characters are more of them.
      if (!/^\d{6}$/u.test(passcode)) return 'wrong'
      const delta = totp.validate({ token: passcode, timestamp: now * 1000 })
      if (delta === null) return 'wrong'
      const step = Math.floor(now / stepSeconds) + delta
      if (usedSteps.has(step)) return 'replayed'
      usedSteps.add(step)
      return 'valid'
    },
    forget: () => usedSteps.clear(),
  }
}
