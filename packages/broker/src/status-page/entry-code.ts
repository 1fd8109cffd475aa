/**
 * The code that lets a person in. Whoever may run commands beside the broker asks for it, and it is typed into the page. It works
 * once, for ten minutes; its hash stands in the store, so any instance takes it.
 *
 * Wrong codes are not counted: a count would let a stranger's guesses shut the owner out. A code of 80 random bits needs none
 * (NIST SP 800-63B, section 5.1.2.2: from 64 bits on).
 */
import { createHash, randomInt } from 'node:crypto'
import { checkOption, notebook, type TokenStore } from '@owner-sso/core'
import { storeRow } from '../given/given.ts'

/** Without what looks alike: I and 1, O and 0. */
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const length = 16

/** Seconds. */
const lifetime = 600

const codesIn = (store: TokenStore) => notebook(store, 'status-page')

/** A code such as `K7PM-2XQD-9FHT-4WBC`, for the page's entrance. @throws StoreError; TypeError for what is no store */
export async function statusPageCode(store: TokenStore): Promise<string> {
  checkOption('store', storeRow, store)
  const code = Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
  const until = Math.floor(Date.now() / 1000) + lifetime
  await codesIn(store).change((notes) => ({ codes: { ...validCodes(notes['codes']), [hashOf(code)]: until } }))
  return code.replaceAll(/.{4}(?=.)/gu, '$&-')
}

/** Takes a code, in any spelling: small letters, spaces. False for a text that is no code, or a code that was used. @throws StoreError */
export async function takeCode(store: TokenStore, typed: string): Promise<boolean> {
  const hash = hashOf(typed.toUpperCase().replaceAll(/[^A-Z\d]/gu, ''))
  let taken = false
  await codesIn(store).change((notes) => {
    const { [hash]: until, ...others } = validCodes(notes['codes'])
    taken = until !== undefined
    return taken ? { codes: others } : notes
  })
  return taken
}

function validCodes(codes: unknown): Record<string, number> {
  return Object.fromEntries(Object.entries(Object(codes)).filter(isValid))
}

const isValid = (entry: [string, unknown]): entry is [string, number] => Number(entry[1]) > Date.now() / 1000

/** Compared are hashes, as keys of an object: how long that takes says nothing about the code. */
function hashOf(code: string): string {
  return createHash('sha256').update(`owner-sso status page ${code}`).digest('base64url')
}
