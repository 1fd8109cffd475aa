/**
 * Which shape an input has, and the token sets in it. Shapes are told by what is in them, never by a name of a file or a program.
 */
import type { ExportFile } from './export-file.ts'
import { type FoundTokens, isAccountName, isFields, tokensIn } from './found-tokens.ts'

/** What is understood, in the words of the error for what is not. */
export const knownShapes: readonly string[] = [
  'a refresh token alone',
  'a token response: JSON with a refresh_token in it',
  'a cache: JSON keyed by account, with the token set in it or one level below',
  'what owner-sso export wrote',
]

export interface Found {
  readonly shape: 'refresh token' | 'token response' | 'cache' | 'export'
  readonly tokens: readonly FoundTokens[]
  readonly others: number
}

export function readShape(text: string): Found | undefined {
  const input = text.trim()
  const json = parsed(input)
  if (json === undefined || typeof json === 'string') return bareToken(typeof json === 'string' ? json : input)
  if (isExportFile(json)) return json.accounts === undefined ? undefined : cache('export', json.accounts)
  const alone = tokensIn(json)
  if (alone !== undefined) return { shape: 'token response', tokens: [alone], others: 0 }
  return isFields(json) ? cache('cache', json) : undefined
}

export function isExportFile(json: unknown): json is ExportFile {
  return isFields(json) && json['kind'] === 'owner-sso export' && json['version'] === 1
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** RFC 6749, appendix A.17, without spaces; so long that no word is taken for one. */
function bareToken(text: string): Found | undefined {
  if (!/^[\x21-\x7e]{20,8192}$/u.test(text) || /^[{["<]/u.test(text)) return undefined
  const found = tokensIn({ refresh_token: text })
  return found && { shape: 'refresh token', tokens: [found], others: 0 }
}

function cache(shape: 'cache' | 'export', entries: Readonly<Record<string, unknown>>): Found | undefined {
  const found = Object.entries(entries).map(([name, entry]) => {
    const tokens = entryOf(entry)
    const history = shape === 'export' && isFields(entry) ? entry['history'] : undefined
    if (tokens === undefined || (shape === 'cache' && !isAccountName(name))) return tokens
    return { ...tokens, account: name, ...(typeof history === 'string' && { history }) }
  })
  const tokens = found.filter((one) => one !== undefined)
  return tokens.length === 0 ? undefined : { shape, tokens, others: found.length - tokens.length }
}

/** The token set of an entry: the entry itself, or one that stands in it; of several the one called `sso`, for others may be of other services. */
function entryOf(entry: unknown): FoundTokens | undefined {
  if (!isFields(entry)) return undefined
  const within = [entry['sso'], ...Object.values(entry)].map((value) => tokensIn(value, entry))
  return tokensIn(entry) ?? within.find((one) => one !== undefined)
}
