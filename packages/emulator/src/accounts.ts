/** The accounts the service knows, and what each of them needs to sign in. */
import { createHash } from 'node:crypto'
import type { Clock } from './clock.ts'
import { createFactor, type Factor, type FactorOptions } from './factors.ts'
import type { Region } from './instances.ts'
import { initialSwitches, switchAccount } from './switches/account-switches.ts'

/** An account to start with. */
export interface AccountOptions {
  /** E-mail address. */
  readonly identity: string
  /** Password. */
  readonly credential: string
  /** Base32; short for one factor called "Device #1". */
  readonly totpSecret?: string
  readonly factors?: readonly FactorOptions[]
  /** Nine characters each; every one works once. Only with a factor. */
  readonly backupCodes?: readonly string[]
  /** The instance it is registered with; default `home`. */
  readonly region?: Region
  /** Signing in ends on the page of a locked account. */
  readonly locked?: boolean
  /** Signing in needs a captcha: on the login page of its `login_hint` too, or only after a first submission. */
  readonly captcha?: boolean | 'after-submission'
}

/** An account as the emulator's endpoints use it. */
export interface Account {
  readonly identity: string
  readonly credential: string
  region: Region
  locked: boolean
  captcha: boolean | 'after-submission'
  readonly factors: readonly Factor[]
  /** Those not used yet. */
  readonly backupCodes: Set<string>
  /** The `sub` of its tokens. */
  readonly subject: string
}

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

/** What of an account can be switched while the emulator runs. */
export type AccountSwitches = Pick<AccountOptions, 'locked' | 'captcha' | 'region'>

/** The accounts of an emulator that was given none: without a second factor, with two devices, and of the other region. */
export const DEMO_ACCOUNTS: readonly AccountOptions[] = [
  { identity: 'plain@example.com', credential: 'correct horse' },
  {
    identity: 'mfa@example.com',
    credential: 'correct horse',
    factors: [
      { id: '5a2f6c1e-8f0b-4f53-9d5e-3b1a7c9e0d11', name: 'Phone', totpSecret: 'JBSWY3DPEHPK3PXP' },
      { id: 'c81d0f3a-2e64-4b7b-a1f9-6d20e4b85c22', name: 'Tablet', totpSecret: 'KRSXG5CTMVRXEZLU' },
    ],
    backupCodes: ['BACKUP001', 'BACKUP002', 'BACKUP003', 'BACKUP004', 'BACKUP005'],
  },
  { identity: 'regional@example.com', credential: 'correct horse', region: 'regional' },
]

export function createAccount(options: AccountOptions): Account {
  const { totpSecret, factors = totpSecret === undefined ? [] : [{ name: 'Device #1', totpSecret }] } = options
  return {
    identity: options.identity,
    credential: options.credential,
    ...initialSwitches(options),
    factors: factors.map(createFactor),
    backupCodes: new Set(options.backupCodes),
    subject: createHash('sha256').update(identityKey(options.identity)).digest('hex').slice(0, 32),
  }
}

export interface AccountDirectory {
  readonly all: readonly Account[]
  /** By e-mail, without regard to case. */
  find(identity: string): Account | undefined
  /** Each account's switches are as they were at the start. */
  reset(): void
  /** Passcodes and backup codes that were used may be used again. */
  forget(): void
}

export function createAccountDirectory(options: readonly AccountOptions[]): AccountDirectory {
  const all = options.map(createAccount)
  const byIdentity = new Map(all.map((account) => [identityKey(account.identity), account]))
  return {
    all,
    find: (identity) => byIdentity.get(identityKey(identity)),
    reset() {
      for (const [index, account] of all.entries()) Object.assign(account, initialSwitches(options[index] ?? {}))
    },
    forget() {
      for (const [index, { factors, backupCodes }] of all.entries()) {
        for (const factor of factors) factor.forget()
        for (const code of options[index]?.backupCodes ?? []) backupCodes.add(code)
      }
    },
  }
}

export function accountView(account: Account, clock: Clock): EmulatorAccount {
  return {
    identity: account.identity,
    credential: account.credential,
    get region() {
      return account.region
    },
    get locked() {
      return account.locked
    },
    get captcha() {
      return account.captcha
    },
    factors: account.factors.map(({ id, name }) => ({ id, name })),
    change: (switches) => switchAccount(account, switches),
    get backupCodes() {
      return [...account.backupCodes]
    },
    passcode(wanted) {
      const factor = account.factors.find(({ id, name }) => wanted === undefined || wanted === id || wanted === name)
      if (!factor) throw new TypeError(`${account.identity} has no ${wanted === undefined ? '' : 'such '}factor`)
      return factor.passcode(clock.now())
    },
  }
}

function identityKey(identity: string): string {
  return identity.trim().toLowerCase()
}
