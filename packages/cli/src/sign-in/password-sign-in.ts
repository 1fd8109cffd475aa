/**
 * A sign-in with e-mail and password: from the settings, a file or the environment, else from the person. What a person typed can be
 * corrected; what came from elsewhere is tried once.
 */
import {
  accountName,
  type Credentials,
  emailFromText,
  InvalidCredentialsError,
  type LoginOutcome,
  PasscodeRejectedError,
  type Sso,
  type TokenSet,
} from '@owner-sso/core'
import { identityOf, type LoginFlags } from './login-options.ts'
import { usageError } from '../failure/command-error.ts'
import { stopped } from '../failure/interruption.ts'
import { type LoginVoice, withProgress } from './login-voice.ts'
import { givenGenerator, secondFactorSource } from './second-factor.ts'
import { orTell, secretFromFile, secretFromVariable } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'
import { askSecret, canAsk } from '../terminal/prompts.ts'

/** So often a person may type a password, or a passcode. More tries get the account locked. */
const tries = 3

export interface SignIn {
  readonly account: string
  readonly tokens: TokenSet
}

/** @throws what `beginLogin` and `completeLogin` throw, CommandError for something missing */
export async function signInWithPassword(
  sso: Sso,
  options: LoginFlags,
  settings: Settings,
  voice: LoginVoice,
): Promise<SignIn> {
  const generator = await givenGenerator(options)
  const { identity, outcome } = await firstFactor(sso, options.credentialFile, settings, voice)
  const account = accountName(identity)
  if (outcome.kind === 'tokens') return { account, tokens: outcome.tokens }
  const nextCode = await secondFactorSource(outcome.factors, generator, options, settings)
  for (let attempt = 1; ; attempt += 1) {
    if (generator !== undefined) voice.step('Making a passcode from the TOTP secret')
    const secondFactor = await nextCode()
    try {
      const complete = (): Promise<TokenSet> => sso.completeLogin(outcome.pending, secondFactor, { signal: stopped })
      return { account, tokens: await withProgress(voice.step, complete) }
    } catch (error) {
      const isUnattended = generator !== undefined
      if (!(error instanceof PasscodeRejectedError) || !isWorthAnother(error, attempt, isUnattended)) throw error
      voice.problem(error.message)
    }
  }
}

async function firstFactor(
  sso: Sso,
  file: string | undefined,
  settings: Settings,
  voice: LoginVoice,
): Promise<{ identity: string; outcome: LoginOutcome }> {
  const given = file === undefined ? secretFromVariable('OWNER_SSO_CREDENTIAL') : undefined
  const isTyped = file === undefined && given === undefined && canAsk(settings)
  let credentials = await credentialsOf(settings, undefined, () => given ?? credentialOf(settings, file))
  for (let attempt = 1; ; attempt += 1) {
    const { identity } = credentials
    try {
      const begin = (): Promise<LoginOutcome> => sso.beginLogin(credentials, { signal: stopped })
      return { identity, outcome: await withProgress(voice.step, begin) }
    } catch (error) {
      if (!(error instanceof InvalidCredentialsError) || !isTyped || attempt === tries) throw error
      voice.problem(
        error.requestSent
          ? 'The SSO service did not accept this e-mail and password. Check both.'
          : 'This is the same e-mail and password as before: they were not sent again.',
      )
    }
    // A visible prompt would come where the person is about to type the password again: the e-mail is asked for only on demand.
    const mayCorrect = settings.account === undefined
    const question = `Password of ${identity} (empty: another e-mail)`
    const credential = mayCorrect ? await askSecret(question, { optional: true }) : ''
    credentials =
      credential === ''
        ? await credentialsOf(settings, identity, () => askSecret('Password'))
        : { identity, credential }
  }
}

/** @param before - the e-mail that was typed the time before @throws CommandError where nobody can be asked */
async function credentialsOf(
  settings: Settings,
  before: string | undefined,
  credential: () => string | Promise<string>,
): Promise<Credentials> {
  const account = await identityOf(settings, before)
  const from = settings.account?.from ?? 'The e-mail'
  const identity = orTell(`Correct ${from}.`, () => emailFromText(account, from))
  return { identity, credential: await credential() }
}

async function credentialOf(settings: Settings, file: string | undefined): Promise<string> {
  // At a terminal, `-` would show what is typed.
  if (file !== undefined && !(file === '-' && canAsk(settings))) return secretFromFile(file, '--credential-file')
  if (canAsk(settings)) return askSecret('Password')
  throw usageError(
    'No password was given, and it can’t be asked for here.',
    'Give --credential-file PATH (- reads standard input), or set OWNER_SSO_CREDENTIAL.',
  )
}

/** A passcode that another program has used is followed by the next one, once; a person may mistype. */
function isWorthAnother({ reason }: PasscodeRejectedError, attempt: number, isUnattended: boolean): boolean {
  if (isUnattended) return reason === 'replayed' && attempt === 1
  return (reason === 'invalid' || reason === 'replayed') && attempt < tries
}
