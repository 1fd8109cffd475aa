/**
 * A response that a function of the test transforms, and what happens to a function that throws.
 */
import { buffer } from 'node:stream/consumers'
import { isRecord } from '../options/checks.ts'
import { jsonResponse, readJson, type ServiceResponse } from '../http/service-response.ts'

/** The response that the service is about to send. A JSON body is the parsed value, long whole numbers as bigints; anything but a string is sent as JSON. */
export interface EmulatedResponse<Body = unknown> {
  status: number
  headers: Record<string, string | readonly string[]>
  body: Body
}

/**
 * Changes the response, or returns what it becomes (omitted fields stay), or a promise of that. The test says what it
 * knows of the body (`once<TokenResponse>(…)`), which is why it is written as a method: their parameters may be narrower.
 */
export type Transform<Body = unknown> = {
  transform(response: EmulatedResponse<Body>): TransformResult<Body> | Promise<TransformResult<Body>>
}['transform']

type TransformResult<Body> = Partial<EmulatedResponse<Body>> | undefined | void

/** A function that failed: no test may pass over it. */
export interface TransformFailure {
  /** Which function: `once('token', …)`. */
  readonly where: string
  /** What it threw, or what is wrong with what it returned. */
  readonly error: unknown
}

export function failureOf(failures: readonly TransformFailure[]): Error | undefined {
  const [first] = failures
  if (!first) return undefined
  const message = failures.map(({ where, error }) => `A function given to emulator.${where} failed: ${String(error)}`)
  return new Error(message.join('\n'), { cause: first.error })
}

export async function transformedResponse(
  original: ServiceResponse,
  transform: Transform,
  failed: (error: unknown) => void,
): Promise<ServiceResponse> {
  const response = await readResponse(original)
  try {
    const returned: unknown = await transform(response)
    if (returned !== undefined && !isRecord(returned)) throw new TypeError('It must return an object or nothing')
    return written({ ...response, ...returned }, original)
  } catch (error) {
    failed(error)
    return jsonResponse(500, {
      error: 'emulator_test_function_failed',
      error_description: `The function that the test gave to the emulator failed: ${String(error)}`,
    })
  }
}

async function readResponse({ status, headers, body }: ServiceResponse): Promise<EmulatedResponse> {
  const text = typeof body === 'string' ? body : (await buffer(body)).toString()
  const isJson = String(headers['content-type']).startsWith('application/json')
  // The length follows from what the body becomes.
  const { 'content-length': _, ...kept } = headers
  return { status, headers: { ...kept }, body: isJson ? parsed(text) : text }
}

/** What a client echoes may call itself JSON without being any. */
function parsed(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return text
  }
}

function written({ status, headers, body }: EmulatedResponse, original: ServiceResponse): ServiceResponse {
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new TypeError('The status must be 200 to 599')
  if (!isRecord(headers)) throw new TypeError('The headers must be an object')
  if (typeof body === 'string') return { ...original, status, headers, body }
  return { ...jsonResponse(status, body ?? null, headers), ...(original.decision && { decision: original.decision }) }
}
