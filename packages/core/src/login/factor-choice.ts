/**
 * Which second factor an answer is for. Never guessed: a passcode of the wrong device costs an attempt.
 */
import { PasscodeRejectedError, PasscodeRequiredError } from '../errors.ts'
import { checkOptionNames } from '@owner-sso/token-manager'
import { whatCame } from '@owner-sso/token-manager/support'
import type { Factor } from '../steps/mfa-factors.ts'
import type { BackupCodeAnswer, PasscodeAnswer, PasscodeSource } from './sso.ts'

/** What `completeLogin` takes. */
export type SecondFactorAnswer = PasscodeAnswer | BackupCodeAnswer

/** The same with its factor: ready to be sent. */
export type ChosenAnswer = { readonly passcode: string; readonly factorId: string } | BackupCodeAnswer

/**
 * An answer with the factor that its passcode belongs to: the one named, or the only one. A backup code belongs to none.
 *
 * @throws PasscodeRequiredError where there are several and none is named; PasscodeRejectedError where the named one is
 *   not the account's. Nothing was sent.
 */
export function chosenAnswer(factors: readonly Factor[], answer: SecondFactorAnswer): ChosenAnswer {
  return 'backupCode' in answer ? answer : { passcode: answer.passcode, factorId: chosenFactor(factors, answer) }
}

function chosenFactor(factors: readonly Factor[], { factorId }: PasscodeAnswer): string {
  const [only, ...others] = factors
  if (factorId === undefined) {
    if (only && others.length === 0) return only.id
    throw new PasscodeRequiredError('several-factors', { step: 'mfa-verify', requestSent: false })
  }
  if (factors.some(({ id }) => id === factorId)) return factorId
  throw new PasscodeRejectedError('unknown-factor', { step: 'mfa-verify', requestSent: false })
}

/**
 * Asks the caller of `login` for the passcode.
 *
 * @throws TypeError for something that is not an answer; PasscodeRequiredError for an empty one; what the caller's function throws
 */
export async function askForPasscode(source: PasscodeSource, factors: readonly Factor[]): Promise<SecondFactorAnswer> {
  const answer = typeof source === 'function' ? await source(factors) : source
  return secondFactorAnswer(typeof answer === 'string' ? { passcode: answer } : answer)
}

/**
 * The answer, its code without what people type between the groups.
 *
 * @throws TypeError that names what is wrong: a number is one, since it has lost its leading zeros. PasscodeRequiredError
 *   where the code is empty
 */
export function secondFactorAnswer(answer: SecondFactorAnswer): SecondFactorAnswer {
  const given: Partial<PasscodeAnswer & BackupCodeAnswer> = typeof answer === 'object' && answer !== null ? answer : {}
  checkOptionNames('the answer', given, { passcode: true, factorId: true, backupCode: true })
  const { passcode, factorId, backupCode } = given
  if (backupCode !== undefined) {
    if (!isCode(backupCode)) throw new TypeError(`backupCode must be a string${cameInstead(backupCode)}`)
    return { backupCode: codeIn(backupCode) }
  }
  if (!isCode(passcode)) throw new TypeError(`passcode must be a string: leading zeros count${cameInstead(passcode)}`)
  if (factorId !== undefined && typeof factorId !== 'string') throw new TypeError('factorId must be a string')
  return { passcode: codeIn(passcode), factorId }
}

const cameInstead = (code: unknown): string => (typeof code === 'string' ? '; it is far too long' : whatCame(code))

function isCode(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64
}

function codeIn(typed: string): string {
  const code = typedCode(typed)
  if (code === '') throw new PasscodeRequiredError('empty', { step: 'mfa-verify', requestSent: false })
  return code
}

/** Spaces and dashes of every kind, the long vowel mark that a Japanese keyboard has for one, and what is not seen at all. */
const between = /[\s\p{Dash}ー\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/**
 * A passcode or a backup code alone, empty where nothing was typed: people type or paste it in groups (`123 456`, `123-456`), with
 * invisible characters of a page, and in the digits of their keyboard.
 */
export function typedCode(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(between, '')
    .replaceAll(/\p{Nd}/gu, valueOf)
}

/** The digits of every script stand in a row, from zero to nine. */
function valueOf(digit: string): string {
  const place = digit.codePointAt(0) ?? 0
  let first = place
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1
  return String((place - first) % 10)
}
