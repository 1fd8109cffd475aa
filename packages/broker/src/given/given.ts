/**
 * What somebody gave for an option, held against what it has to be. What is of another kind would be taken without a word, and
 * fail when nobody looks.
 */
import { visible } from '@owner-sso/core'

/** The longest time that a timer of Node's takes, in milliseconds: a longer one would end at once. */
export const longestTimer = 2_147_483_647

/**
 * @param must - names the option, and what it has to be: `https must be true or false`
 * @param given - what came. Of a text that may be a secret: `kindOf(it)`
 * @throws TypeError
 */
export function requireOption(isRight: boolean, must: string, given: unknown): asserts isRight {
  if (!isRight) throw new TypeError(`${must}, and not ${given instanceof Kind ? given.words : shown(given)}`)
}

/** What a value is, in place of its content, which may be a secret. */
export function kindOf(given: unknown): Kind {
  return new Kind(typeof given === 'string' ? 'another text' : shown(given))
}

/** Words for what came. */
class Kind {
  readonly words: string
  constructor(words: string) {
    this.words = words
  }
}

function shown(given: unknown): string {
  if (given === null || ['undefined', 'boolean', 'number', 'bigint'].includes(typeof given)) return String(given)
  if (typeof given === 'string') return quoted(given.length > 60 ? `${given.slice(0, 60)}…` : given)
  if (Array.isArray(given)) return given.length === 0 ? 'an empty list' : 'a list'
  if (given instanceof Promise) return 'a promise: await it'
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`
}

/** With what nobody sees as its number. */
function quoted(text: string): string {
  return visible(JSON.stringify(text)).replaceAll(
    /\p{Default_Ignorable_Code_Point}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/** @param must - `store must be a token store`. @throws TypeError where one of these functions is missing */
export function requireFunctions(must: string, given: unknown, names: readonly string[]): void {
  const isRight = isObject(given) && names.every((name) => typeof Reflect.get(given, name) === 'function')
  requireOption(isRight, must, given)
}

/** @throws TypeError */
export function requireStore(option: string, given: unknown): void {
  requireFunctions(`${option} must be a token store, such as fileTokenStore() returns`, given, ['read', 'swap'])
}

/** An option that may be left out. @throws TypeError */
export function requireFunction(option: string, given: unknown): void {
  requireOption(given === undefined || typeof given === 'function', `${option} must be a function`, given)
}

/** An option that may be left out. @throws TypeError */
export function requireBoolean(option: string, given: unknown): void {
  requireOption(given === undefined || typeof given === 'boolean', `${option} must be true or false`, given)
}

/** @param unit - such as `seconds`. @throws TypeError */
export function requireNumber(option: string, given: unknown, unit: string, least = 0, most: number = Infinity): void {
  const isRight = typeof given === 'number' && Number.isFinite(given) && given >= least && given <= most
  requireOption(isRight, `${option} must be a number of ${unit}`, given)
}

/** @throws TypeError */
export function requirePath(option: string, given: unknown): void {
  const isPath = typeof given === 'string' && given !== ''
  requireOption(isPath, `${option} must be a path`, given)
  requireOption(!/^~(?:\/|$)/u.test(given), `${option} must be a path that says the home folder in full`, given)
}

/** Names that a broker or its page goes by. @throws TypeError */
export function requireHosts(given: unknown): void {
  const must = 'hosts must be a list of names such as broker.home.example, without a port'
  requireOption(Array.isArray(given), must, given)
  const wrong: unknown[] = given.filter(
    (host: unknown) => typeof host !== 'string' || !/^(?:[a-z\d.-]+|\[[\da-f:.]+\])$/iu.test(host),
  )
  requireOption(wrong.length === 0, must, wrong[0])
}

export function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}
