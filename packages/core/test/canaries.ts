/**
 * Seeded secrets, and everything that could show them: how an error or an object may end up in a log.
 */
import { inspect } from 'node:util'

/** Nine kinds of secret, each of a text that occurs nowhere else. */
export const canaries = {
  credential: 'canary-credential-0001',
  passcode: '739105',
  backupCode: 'canary-backup-0003',
  cookie: 'canary-cookie-0004',
  code: 'canary-code-0005',
  accessToken: 'canary-access-0006',
  refreshToken: 'canary-refresh-0007',
  idToken: 'canary-identity-0008',
  csrf: 'canary-csrf-0009',
} as const

/** Every text that a logger, an error tracker or a person could make of a value. */
export function renderings(value: unknown): string[] {
  const texts = [
    String(value),
    inspect(value),
    inspect(value, { depth: Infinity, showHidden: true }),
    inspect(new AggregateError([value], 'several'), { depth: Infinity, showHidden: true }),
    inspect(new Error('outer', { cause: value }), { depth: Infinity, showHidden: true }),
    asJson(value),
    ...ownTexts(value),
  ]
  if (value instanceof Error)
    texts.push(
      value.message,
      String(value.stack),
      inspect(structuredClone(value), { depth: Infinity, showHidden: true }),
    )
  return texts
}

/** What an error tracker does: walk over all own properties, symbols and getters of a value and of its prototypes. */
function ownTexts(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value]
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return []
  seen.add(value)
  return Reflect.ownKeys(value).flatMap((key) => [String(key), ...ownTexts(Reflect.get(value, key), seen)])
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
