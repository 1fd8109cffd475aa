/**
 * The check of each field of a fault: a wrong one is named where it is ordered, not where it strikes.
 */
import { checkEach, isRecord, milliseconds, oneOf, whole, type Checks } from '../options/checks.ts'
import { endpoints, type Endpoint, type Fault } from './fault.ts'

const maxBodyLength = 1024 ** 3

const faultChecks: Checks<Fault> = {
  delay: milliseconds(),
  hold: {
    expected: 'a promise',
    accepts: (value): value is Promise<unknown> => isRecord(value) && typeof value['catch'] === 'function',
  },
  commit: oneOf('before', 'after'),
  drop: oneOf('before-commit', 'after-commit', 'mid-body', 'after-body'),
  status: whole(200, 599),
  headers: {
    expected: 'an object of strings, or of arrays of strings',
    accepts: (value): value is NonNullable<Fault['headers']> =>
      isRecord(value) && Object.values(value).every((line) => [line].flat().every((item) => typeof item === 'string')),
  },
  body: { expected: 'anything', accepts: (_value): _value is unknown => true },
  firewall: oneOf(true, false, 'script'),
  bodyLength: whole(0, maxBodyLength),
}

/** @throws {TypeError} A field is unknown or wrong; the message names it. */
export function checkFault(fault: unknown): void {
  if (typeof fault !== 'function') checkEach('field', '', fault, faultChecks)
}

/** @throws {TypeError} There is no such endpoint. */
export function checkEndpoint(endpoint: string): asserts endpoint is Endpoint {
  if (endpoints.some((known) => known === endpoint)) return
  throw new TypeError(`Unknown endpoint ${endpoint}: one of ${endpoints.join(', ')}`)
}
