/**
 * A sign-in with e-mail and password. What a person typed can be corrected; what came from elsewhere is tried once.
 */
import {
  accountName,
  InvalidCredentialsError,
  type LoginOutcome,
  PasscodeRejectedError,
  type Sso,
  type TokenSet,
} from '@owner-sso/core'
import type { LoginFlags } from './login-options.ts'
import { type CredentialSource, credentialSource } from './credentials.ts'
import { stopped } from '../failure/interruption.ts'
import { withProgress } from './login-progress.ts'
import type { LoginVoice } from './login-voice.ts'
import { givenGenerator, secondFactorSource } from './second-factor.ts'
import type { Settings } from '../settings/settings.ts'

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
  const { identity, outcome } = await firstFactor(sso, credentialSource(settings, options.credentialFile), voice)
  const account = accountName(identity)
  if (outcome.kind === 'tokens') return { account, tokens: outcome.tokens }
  const secondFactors = await secondFactorSource(outcome.factors, generator, options, settings)
  for (let attempt = 1; ; attempt += 1) {
    if (secondFactors.unattended) voice.step('Making a passcode from the TOTP secret')
    const secondFactor = await secondFactors.next()
    try {
      const complete = (): Promise<TokenSet> => sso.completeLogin(outcome.pending, secondFactor, { signal: stopped })
      return { account, tokens: await withProgress(voice.step, complete) }
    } catch (error) {
      if (!(error instanceof PasscodeRejectedError) || !isWorthAnother(error, attempt, secondFactors.unattended))
        throw error
      voice.problem(error.message)
    }
  }
}

async function firstFactor(
  sso: Sso,
  credentials: CredentialSource,
  voice: LoginVoice,
): Promise<{ identity: string; outcome: LoginOutcome }> {
  let before: string | undefined
  for (let attempt = 1; ; attempt += 1) {
    const given = await credentials.next(before)
    before = given.identity
    try {
      const begin = (): Promise<LoginOutcome> => sso.beginLogin(given, { signal: stopped })
      return { identity: given.identity, outcome: await withProgress(voice.step, begin) }
    } catch (error) {
      if (!(error instanceof InvalidCredentialsError) || !credentials.canCorrect || attempt === tries) throw error
      voice.problem(
        error.requestSent
          ? 'The SSO service did not accept this e-mail and password. Check both.'
          : 'This is the same e-mail and password as before: they were not sent again.',
      )
    }
  }
}

/** A passcode that another program has used is followed by the next one, once; a person may mistype. */
function isWorthAnother({ reason }: PasscodeRejectedError, attempt: number, unattended: boolean): boolean {
  if (unattended) return reason === 'replayed' && attempt === 1
  return (reason === 'invalid' || reason === 'replayed') && attempt < tries
}
