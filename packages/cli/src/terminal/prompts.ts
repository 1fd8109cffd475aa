/**
 * Questions to the person at the terminal. They are asked on standard error, since standard output is for data.
 */
import { typedEmail, visible } from '@owner-sso/core'
import { interrupt, stopped } from '../failure/interruption.ts'

export function canAsk({ input }: { readonly input: boolean }): boolean {
  return input && process.stdin.isTTY && process.stderr.isTTY
}

export interface TextQuestion {
  /** Stands there already, to be taken or corrected. */
  readonly proposal?: string | undefined
  /** What is wrong with an answer; by default, that it is empty. */
  readonly validate?: (answer: string | undefined) => string | undefined
}

export async function askText(message: string, { proposal, validate = required }: TextQuestion = {}): Promise<string> {
  const { text } = await import('@clack/prompts')
  const initialValue = proposal === undefined ? {} : { initialValue: proposal }
  return given((await text({ message: visible(message), ...initialValue, validate, ...terminal() })) ?? '').trim()
}

/** @param before - what was typed the time before, to be corrected */
export async function askEmail(before?: string): Promise<string> {
  return typedEmail(await askText('E-mail', { proposal: before, validate: email }))
}

/** What is typed is never shown. @param optional - whether it may be left empty */
export async function askSecret(message: string, { optional = false } = {}): Promise<string> {
  const { password } = await import('@clack/prompts')
  const check = optional ? {} : { validate: required, clearOnError: true }
  return given((await password({ message: visible(message), ...check, ...terminal() })) ?? '')
}

/** Whether the person agrees; Enter alone does not. */
export async function askConsent(message: string): Promise<boolean> {
  const { confirm } = await import('@clack/prompts')
  const choice = await confirm({ message: visible(message), initialValue: false, ...terminal() })
  if (typeof choice === 'boolean') return choice
  return given(choice) === 'yes'
}

export async function askChoice(
  message: string,
  options: readonly { readonly value: string; readonly label: string }[],
): Promise<string> {
  const { select } = await import('@clack/prompts')
  const shown = options.map(({ value, label }) => ({ value, label: visible(label) }))
  return given(await select({ message: visible(message), options: shown, ...terminal() }))
}

function terminal(): { signal: AbortSignal; output: NodeJS.WriteStream } {
  return { signal: stopped, output: process.stderr }
}

function required(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? 'This can’t be left empty (Ctrl-C stops).' : undefined
}

/** What is no e-mail costs a request all the same. */
function email(value: string | undefined): string | undefined {
  return (
    required(value) ?? (/^\s*\S+@\S+\s*$/u.test(value ?? '') ? undefined : 'An e-mail has an @ in it (Ctrl-C stops).')
  )
}

/** Ctrl-C in a prompt arrives as a key, not as a signal; the terminal is as it was by now. */
function given(entry: string | symbol): string {
  if (typeof entry === 'string') return entry
  interrupt()
  throw new Error('Stopped')
}
