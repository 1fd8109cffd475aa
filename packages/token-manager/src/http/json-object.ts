/**
 * A JSON answer as a map of its own members, so that nothing on a prototype is mistaken for one.
 */

export type JsonObject = ReadonlyMap<string, unknown>

/** Parses text as a JSON object; `undefined` where it is not one. A byte order mark is passed over. */
export function parseJsonObject(text: string): JsonObject | undefined {
  return asJsonObject(parseJson(text))
}

/** Parses text as any JSON value; `undefined` where it is not one. A byte order mark is passed over. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, ''))
  } catch {
    return undefined
  }
}

/** A parsed value as a JSON object; `undefined` for an array, a text, a number or null. */
export function asJsonObject(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? new Map(Object.entries(value)) : undefined
}

/** Whether an answer calls itself JSON (`application/json`, with or without parameters, or a `+json` type). */
export function isJsonType(contentType: string | undefined): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/iu.test(contentType ?? '')
}
