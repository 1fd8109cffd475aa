/**
 * Answers that strangers recorded and published, personal details replaced: `tests/recorded-answers`. What is decided from a text is
 * tested with these, not with a word of ours.
 */
import { readFileSync } from 'node:fs'

/** One answer, with where and when it was seen, and how sure that is (A: several independent sources agree; B: one good source). */
export interface RecordedAnswer {
  readonly name: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly where: string
  readonly when: string
  readonly sure: 'A' | 'B' | 'C'
}

/** Of the owner API: whether it is about the token, or about the list of vehicles. */
export interface OwnerApiAnswer extends RecordedAnswer {
  readonly about: 'token' | 'list'
}

/** Of the SSO service: the error that it becomes. */
export interface ServiceAnswer extends RecordedAnswer {
  readonly code: string
}

export const ownerApiAnswers: readonly OwnerApiAnswer[] = read('owner-api')
export const tokenEndpointAnswers: readonly ServiceAnswer[] = read('token-endpoint')

function read<Answer>(name: string): Answer[] {
  return JSON.parse(readFileSync(new URL(`../recorded-answers/${name}.json`, import.meta.url), 'utf8'))
}
