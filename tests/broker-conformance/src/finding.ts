/**
 * What a check finds out: nothing, that something is lacking, or that it can't be seen.
 */
import type { Answer } from './call.ts'
import type { Broker } from './broker.ts'

/** One sentence of the page. Passes where `look` resolves. */
export interface Check {
  readonly isRequired: boolean
  /** A heading of the page. */
  readonly section: string
  readonly name: string
  /** @throws Lacking, Unseen, Unanswered */
  readonly look: (broker: Broker) => Promise<void>
}

/** What the broker does in place of it. Without a key, a token, or anything else of an answer's body but its words. */
export class Lacking extends Error {}

/** Why it can't be seen. */
export class Unseen extends Error {}

export function requireThat(condition: boolean, lacking: string): asserts condition {
  if (!condition) throw new Lacking(lacking)
}

/** @throws Lacking where the answer has another status, or another word in that field */
export function requireRejection(answer: Answer, status: number, field: 'error' | 'code', word: string): void {
  const isRight = answer.status === status && parsed(answer)?.[field] === word
  requireThat(isRight, `it answers ${shown(answer)}, not ${status} with the ${field} ${word}`)
}

/** @throws Lacking */
export function requireStatus(answer: Answer, status: number): void {
  requireThat(answer.status === status, `it answers ${shown(answer)}, not ${status}`)
}

/** The answer's body. @throws Lacking where it is no JSON object */
export function fieldsOf(answer: Answer): Readonly<Record<string, unknown>> {
  const fields = parsed(answer)
  requireThat(fields !== undefined, `its answer ${answer.status} is no JSON object`)
  return fields
}

/** What a rejection is called: its `code`, or at the token endpoint its `error`. */
export function wordOf(answer: Answer): string | undefined {
  const { code, error } = parsed(answer) ?? {}
  return [code, error].find((word) => typeof word === 'string')
}

/** Status and word, for people. What has not the form of a word may be a secret, and is not shown. */
export function shown(answer: Answer): string {
  const word = wordOf(answer)
  if (word !== undefined) return `${answer.status} ${/^(?:[a-z_]+|[A-Z_]+)$/u.test(word) ? word : 'and another word'}`
  return answer.status < 400 ? String(answer.status) : `${answer.status} without a code`
}

function parsed({ body }: Answer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
