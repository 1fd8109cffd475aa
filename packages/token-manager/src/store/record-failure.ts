/**
 * Which failures of a store are one record's, so that the others may be well.
 */
import { StoreError } from '../errors.ts'

/** The record is at fault, not the store: the others may be well. */
export function isOfOneRecord(error: unknown): boolean {
  return isDamaged(error) || (error instanceof StoreError && error.reason === 'read-failed')
}

/** The same, or a write failed, which does not tell whose fault it is: only the next one does. */
export function mayBeOfOneRecord(error: unknown): boolean {
  return isOfOneRecord(error) || (error instanceof StoreError && error.reason === 'write-failed')
}

/** The record, or the key, stays as it is until somebody mends it: another look finds the same. */
export function isDamaged(error: unknown): error is StoreError {
  const reasons = ['corrupt', 'wrong-key', 'not-sealed', 'newer-release']
  return error instanceof StoreError && reasons.includes(error.reason)
}
