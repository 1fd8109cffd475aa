/** A recorded login as a file: what it holds, how it is written so that nobody else reads it, and how it is read back. */
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { checkFixture, FORMAT } from './fixture-checks.ts'
import type { Json } from './field-masks.ts'
import type { Shape } from './pseudonyms.ts'

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

/** A recording: the exchanges of one session with a service, without its secrets. */
export interface Fixture {
  readonly format: typeof FORMAT
  readonly version: 1
  /** What values looked like that the service made up. */
  readonly placeholders: Readonly<Record<string, Shape>>
  readonly exchanges: readonly RecordedExchange[]
}

/** A file that is no fixture, or a damaged one; the message says where. */
export class FixtureError extends Error {
  override readonly name: string = 'FixtureError'
}

/** Reads a fixture. @throws {FixtureError} */
export async function readFixture(file: string): Promise<Fixture> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new FixtureError(`${file} can't be read: ${error.message}`)
  })
  let fixture: Fixture
  try {
    fixture = JSON.parse(text)
  } catch {
    throw new FixtureError(`${file} is not JSON: it was cut, or edited by hand`)
  }
  const problem = checkFixture(fixture)
  if (problem !== undefined) throw new FixtureError(`${file} is not a usable recording: ${problem}`)
  return fixture
}

/** Writes it whole or not at all; only its owner can read it. */
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
