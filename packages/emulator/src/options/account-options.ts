/**
 * What an account is given at the start, what of it can be switched, and the accounts of an emulator that was given none.
 */

/** Which of the two instances an account belongs to. */
export type Region = 'home' | 'regional'

/** A device that makes passcodes. */
export interface FactorOptions {
  /** A UUID; default a random one. */
  readonly id?: string
  /** What the owner called the device. */
  readonly name: string
  /** Base32. */
  readonly totpSecret: string
}

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

/** What of an account can be switched while the emulator runs. */
export type AccountSwitches = Pick<AccountOptions, 'locked' | 'captcha' | 'region'>

/** The accounts of an emulator that was given none: without a second factor, with two devices, and of the other region. */
export const demoAccounts: readonly AccountOptions[] = [
  { identity: 'plain@example.com', credential: 'correct horse' },
  {
    identity: 'mfa@example.com',
    credential: 'correct horse',
    factors: [
      { id: '5a2f6c1e-8f0b-4f53-9d5e-3b1a7c9e0d11', name: 'Device #1', totpSecret: 'JBSWY3DPEHPK3PXP' },
      { id: 'c81d0f3a-2e64-4b7b-a1f9-6d20e4b85c22', name: 'Tablet', totpSecret: 'KRSXG5CTMVRXEZLU' },
    ],
    backupCodes: ['BACKUP001', 'BACKUP002', 'BACKUP003', 'BACKUP004', 'BACKUP005'],
  },
  { identity: 'regional@example.com', credential: 'correct horse', region: 'regional' },
]
