/**
 * Whether something is an error: of any realm, since tests run in one of their own, and what Node throws is of another.
 */
import { types } from 'node:util'

export const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value)
