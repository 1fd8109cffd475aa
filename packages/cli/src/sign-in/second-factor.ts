/**
 * The second factor of a sign-in: which device, and its passcode or a backup code.
 */
import {
  type BackupCodeAnswer,
  type Factor,
  type PasscodeAnswer,
  PasscodeRequiredError,
  typedCode,
} from '@owner-sso/core'
import type { LoginFlags } from './login-options.ts'
import { usageError } from '../failure/command-error.ts'
import { stopped } from '../failure/interruption.ts'
import { askChoice, askText, canAsk } from '../terminal/prompts.ts'
import { textFromFile } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'
import type { PasscodeGenerator } from './totp.ts'

/**
 * What makes the passcodes where a secret is given; asked for before anything is sent.
 *
 * @throws CommandError for something that is not a secret, or a file that can't be read
 */
export async function givenGenerator(options: LoginFlags): Promise<PasscodeGenerator | undefined> {
  const { totpSecretFile: file } = options
  const secret =
    file === undefined ? process.env['OWNER_SSO_TOTP_SECRET'] : await textFromFile(file, '--totp-secret-file')
  if (!secret && file === undefined) return undefined
  const { passcodeGenerator } = await import('./totp.ts')
  return passcodeGenerator(secret ?? '')
}

/**
 * @returns gives a code for each attempt
 * @throws CommandError for a factor that the account has not; PasscodeRequiredError where nobody can be asked
 */
export async function secondFactorSource(
  factors: readonly Factor[],
  generator: PasscodeGenerator | undefined,
  options: LoginFlags,
  settings: Settings,
): Promise<() => Promise<PasscodeAnswer | BackupCodeAnswer>> {
  if (generator === undefined && !canAsk(settings)) throw new PasscodeRequiredError()
  const factor = await chosenFactor(factors, options.factor, settings)
  if (generator === undefined) return () => askForCode(factor)
  return async () => ({ factorId: factor.id, passcode: await generator.next(stopped) })
}

/** Never guessed: a passcode of the wrong device costs an attempt. */
async function chosenFactor(
  factors: readonly Factor[],
  named: string | undefined,
  settings: Settings,
): Promise<Factor> {
  const names = factors.map(({ name }) => name).join(', ')
  if (named !== undefined) {
    const found = factors.find(({ id, name }) => id === named || name === named)
    if (found !== undefined) return found
    throw usageError(`The account has no second factor called ${JSON.stringify(named)}.`, `Its factors are: ${names}.`)
  }
  const [only, ...others] = factors
  if (only === undefined) throw new PasscodeRequiredError('several-factors')
  if (others.length === 0) return only
  if (!canAsk(settings)) throw usageError('The account has several second factors.', `Give --factor, one of: ${names}.`)
  const id = await askChoice(
    'Which device has the passcode?',
    factors.map((factor) => ({ value: factor.id, label: factor.name })),
  )
  return factors.find((factor) => factor.id === id) ?? only
}

/** Backup codes have nine letters and digits, passcodes six to eight digits. */
async function askForCode({ id, name }: Factor): Promise<PasscodeAnswer | BackupCodeAnswer> {
  let code = ''
  while (code === '') code = typedCode(await askText(`Passcode of ${name} (or a backup code)`))
  return /^\d{1,8}$/u.test(code) ? { factorId: id, passcode: code } : { backupCode: code }
}
