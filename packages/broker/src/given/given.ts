/**
 * What somebody gave for an option or an argument, held against what it has to be. What is of another kind would be taken without
 * a word, and fail when nobody looks.
 */
import { kinds, type OptionRow, whatCame } from '@owner-sso/core'

/** @param must - names the option, and what it has to be: `https must be true or false`. @throws TypeError */
export function requireOption(isRight: boolean, must: string, given: unknown): asserts isRight {
  if (!isRight) throw new TypeError(`${must}${whatCame(given)}`)
}

export const storeRow: OptionRow = kinds.required(
  kinds.having('a token store, such as fileTokenStore() returns', 'read', 'swap'),
)

/** Names that a broker or its page goes by. */
export const hostsRow: OptionRow = {
  must: 'a list of names such as broker.home.example, without a port',
  fits: (value) => Array.isArray(value) && value.every(isHostName),
}

const isHostName = (host: unknown): boolean =>
  typeof host === 'string' && /^(?:[a-z\d.-]+|\[[\da-f:.]+\])$/iu.test(host)

/** An object that is no list. */
export function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}
