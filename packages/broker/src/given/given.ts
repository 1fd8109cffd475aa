/**
 * What somebody gave for an option or an argument, held against what it has to be. What is of another kind would be taken without
 * a word, and fail when nobody looks.
 */
import { checkOption, kinds, type OptionRow, whatCame } from '@owner-sso/core'

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

/** @throws TypeError */
export function requireStore(option: string, given: unknown): void {
  checkOption(option, storeRow, given)
}

/** @param unit - such as `seconds`. @throws TypeError */
export function requireNumber(option: string, given: unknown, unit: string, least = 0, most?: number): void {
  checkOption(option, kinds.number(unit, least, most), given)
}

/** An object that is no list. */
export function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}
