/**
 * A recorded login as a file: what it holds, how it is written so that nobody else reads it, and how it is read back.
 */
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isRecord } from '../options/checks.ts'
import type { Shape } from './placeholders.ts'

/** JSON as it stands in a recording. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Names and values; those of a name that repeats in a list. Placeholders may stand anywhere: `{{code.1}}`. */
export type Parameters = Readonly<Record<string, string | readonly string[]>>

/** A body in the one form that shows it best; a page or text by lines. */
export interface RecordedBody {
  readonly form?: Parameters
  readonly json?: Json
  readonly html?: readonly string[]
  readonly text?: readonly string[]
}

/** A request of a recording. */
export interface RecordedRequest extends RecordedBody {
  readonly instance: 'home' | 'regional'
  readonly method: string
  readonly path: string
  readonly query?: Parameters
  readonly cookies?: Parameters
  /** For whoever reads it; a replay looks at `content-type` alone. */
  readonly headers: Parameters
}

/** The service’s answer to it. */
export interface RecordedAnswer extends RecordedBody {
  readonly status: number
  readonly headers: Parameters
}

/** A request with what became of it: an answer, a connection that the service `cut`, or a client that waited in vain (`none`). */
export interface RecordedExchange {
  readonly request: RecordedRequest
  readonly answer: RecordedAnswer | 'cut' | 'none'
}

/** The first line of a recording, so that nobody mistakes another file for one. */
export const format = 'owner-sso login recording'

/** A recording: the exchanges of one session with a service, without its secrets. */
export interface Fixture {
  readonly format: typeof format
  readonly version: 1
  /** The shapes of the values that the service made up, by placeholder. */
  readonly placeholders: Readonly<Record<string, Shape>>
  readonly exchanges: readonly RecordedExchange[]
}

/** @throws {Error} It is no recording, or a damaged one; the message says where. */
export async function readFixture(file: string): Promise<Fixture> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(`${file} can't be read: ${error.message}`)
  })
  let fixture: Fixture
  try {
    fixture = JSON.parse(text)
  } catch {
    throw new Error(`${file} is not JSON: it was cut, or edited by hand`)
  }
  const problem = problemOf(fixture)
  if (problem !== undefined) throw new Error(`${file} is not a usable recording: ${problem}`)
  return fixture
}

export async function writeFixture(file: string, fixture: Fixture): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(draft, `${JSON.stringify(fixture, undefined, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** What is wrong with a file that was cut or edited by hand, as far as a replay would stumble over it. */
function problemOf(value: unknown): string | undefined {
  if (!isRecord(value) || value['format'] !== format) return `format must be "${format}"`
  if (value['version'] !== 1) return 'version must be 1: it was written by another version of @owner-sso/emulator'
  const { placeholders, exchanges } = value
  if (!isRecord(placeholders)) return 'placeholders must be an object'
  if (!Array.isArray(exchanges) || exchanges.length === 0) return 'exchanges must be a list that is not empty'
  const damaged = exchanges.findIndex((exchange) => !isExchange(exchange))
  return damaged === -1 ? undefined : `exchanges[${damaged}] must have a request and an answer as they were recorded`
}

function isExchange(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value['request'])) return false
  const { request, answer } = value
  const { instance, method, path, headers } = request
  if (!['home', 'regional'].includes(String(instance)) || !isRecord(headers)) return false
  if (typeof method !== 'string' || typeof path !== 'string') return false
  return answer === 'cut' || answer === 'none' || (isRecord(answer) && isStatus(answer['status']))
}

function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599
}
