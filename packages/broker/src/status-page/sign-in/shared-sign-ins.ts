/**
 * Sign-ins that wait for a person, for several instances behind one address: in the store, sealed with AES-256-GCM under a key
 * that only the person's browser has.
 *
 * The key comes from the random part of the visitor's cookie, which stands nowhere in the store: whoever reads the store, or
 * a copy of it, gets neither the password nor the verifier out of it.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { notebook, type Notes, type TokenStore } from '@owner-sso/core'
import { livingNotes } from '../living-notes.ts'
import { longestWait, type SignInAt, signInAt, type WaitingSignIn, type WaitingSignIns } from './waiting-sign-ins.ts'

/** One sign-in as the store has it. */
interface Sealed {
  /** Milliseconds since the epoch. */
  readonly until: number
  readonly nonce: string
  readonly sealed: string
}

/** Of all visitors together; the oldest ones go first. A record of the store has room for some hundred kilobytes. */
const most = { signIns: 50, characters: 200_000 }

/** @param store - that all instances share */
export function sharedSignIns(store: TokenStore): WaitingSignIns {
  const notes = notebook(store, 'sign-ins')
  /** Changes the living ones. */
  const change = (changed: (signIns: ReadonlyMap<string, Sealed>) => Map<string, Sealed>) =>
    notes.change((all) => Object.fromEntries(newest(changed(living(all)))))
  return {
    async get(visitor, step) {
      return foundIn(await notes.read(), visitor, step)
    },
    async take(visitor, step) {
      const name = nameOf(visitor)
      let taken: SignInAt<typeof step>
      await notes.change((all) => {
        taken = foundIn(all, visitor, step)
        if (taken === undefined) return all
        return Object.fromEntries([...living(all)].filter(([each]) => each !== name))
      })
      return taken
    },
    async set(visitor, signIn) {
      const name = nameOf(visitor)
      const sealed = sealedFor(visitor, name, signIn)
      await change((signIns) => new Map(signIns).set(name, sealed))
    },
    async delete(visitor) {
      const name = nameOf(visitor)
      await change((signIns) => new Map([...signIns].filter(([each]) => each !== name)))
    },
  }
}

function foundIn<Step extends WaitingSignIn['step']>(all: Notes, visitor: string, step: Step): SignInAt<Step> {
  const name = nameOf(visitor)
  const found = living(all).get(name)
  return signInAt(found && opened(found, visitor, name), step)
}

/** Where a visitor's sign-in stands. It says nothing about the key. */
function nameOf(visitor: string): string {
  return createHmac('sha256', visitor).update('owner-sso sign-in').digest('base64url')
}

function keyOf(visitor: string): Buffer {
  return Buffer.from(hkdfSync('sha256', visitor, '', 'owner-sso sealed sign-in', 32))
}

function sealedFor(visitor: string, name: string, signIn: WaitingSignIn): Sealed {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keyOf(visitor), nonce).setAAD(Buffer.from(name))
  const parts = [cipher.update(JSON.stringify(signIn), 'utf8'), cipher.final(), cipher.getAuthTag()]
  const sealed = Buffer.concat(parts).toString('base64url')
  return { until: Date.now() + longestWait, nonce: nonce.toString('base64url'), sealed }
}

/** Nothing where it was changed, or put in another one's place. */
function opened({ nonce, sealed }: Sealed, visitor: string, name: string): WaitingSignIn | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(visitor), Buffer.from(nonce, 'base64url'), {
      authTagLength: 16,
    })
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-16))
    const text = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
    const signIn: WaitingSignIn = JSON.parse(text)
    return signIn
  } catch {
    return undefined
  }
}

function living(notes: Notes): Map<string, Sealed> {
  return livingNotes(notes, isSealed, Date.now())
}

/** As many of the newest as there is room for. */
function newest(signIns: ReadonlyMap<string, Sealed>): [string, Sealed][] {
  let room = most.characters
  return [...signIns]
    .toSorted(([, one], [, other]) => other.until - one.until)
    .slice(0, most.signIns)
    .filter(([, { sealed }]) => (room -= sealed.length) >= 0)
}

function isSealed(value: unknown): value is Sealed {
  if (typeof value !== 'object' || value === null) return false
  const { until, nonce, sealed }: Partial<Record<keyof Sealed, unknown>> = value
  return typeof until === 'number' && typeof nonce === 'string' && typeof sealed === 'string'
}
