/**
 * An answer that a function of the test bends, and what becomes of a function that throws.
 */
import { buffer } from 'node:stream/consumers'
import { isRecord } from '../options/checks.ts'
import { jsonReply, type Reply } from '../reply.ts'

/** What the service is about to answer. A JSON body is the parsed value; whatever is no string is sent as JSON. */
export interface Answer<Body = unknown> {
  status: number
  headers: Record<string, string | readonly string[]>
  body: Body
}

/**
 * Changes the answer, or returns what it becomes (fields that are left out stay), or a promise of that. The test says what it
 * knows of the body (`once<TokenResponse>(…)`), which is why it is written as a method: their parameters may be narrower.
 */
export type Bend<Body = unknown> = {
  bend(answer: Answer<Body>): BentAnswer<Body> | Promise<BentAnswer<Body>>
}['bend']

type BentAnswer<Body> = Partial<Answer<Body>> | undefined | void

/** A function that failed: no test may pass over it. */
export interface BendFailure {
  /** Which function: `once('token', …)`. */
  readonly where: string
  /** What it threw, or what is wrong with what it returned. */
  readonly error: unknown
}

/** What a test hears of functions that failed. */
export function failureOf(failures: readonly BendFailure[]): Error | undefined {
  const [first] = failures
  if (!first) return undefined
  const message = failures.map(({ where, error }) => `A function given to emulator.${where} failed: ${String(error)}`)
  return new Error(message.join('\n'), { cause: first.error })
}

/** The reply as the function leaves it. A failing function is reported, and the client gets a 500 that says so: nobody waits. */
export async function bentReply(reply: Reply, bend: Bend, failed: (error: unknown) => void): Promise<Reply> {
  const answer = await readAnswer(reply)
  try {
    const returned: unknown = await bend(answer)
    if (returned !== undefined && !isRecord(returned)) throw new TypeError('It must return an object or nothing')
    return written({ ...answer, ...returned }, reply)
  } catch (error) {
    failed(error)
    return jsonReply(500, {
      error: 'emulator_test_function_failed',
      error_description: `The function that the test gave to the emulator failed: ${String(error)}`,
    })
  }
}

async function readAnswer({ status, headers, body }: Reply): Promise<Answer> {
  const text = typeof body === 'string' ? body : (await buffer(body)).toString()
  const isJson = String(headers['content-type']).startsWith('application/json')
  // The length follows from what the body becomes.
  const { 'content-length': _, ...kept } = headers
  return { status, headers: { ...kept }, body: isJson ? parsed(text) : text }
}

/** What a client echoes may call itself JSON without being any. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function written({ status, headers, body }: Answer, reply: Reply): Reply {
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new TypeError('The status must be 200 to 599')
  if (!isRecord(headers)) throw new TypeError('The headers must be an object')
  if (typeof body === 'string') return { ...reply, status, headers, body }
  return { ...jsonReply(status, body ?? null, headers), ...(reply.decision && { decision: reply.decision }) }
}
