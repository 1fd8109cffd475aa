/**
 * One of many that swap the same account: `node swapper-process.mjs <path> <account>`. Prints each version that was
 * acknowledged to it, and ends with an error if a record is not the next of its predecessor.
 */
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { fileTokenStore } from '../dist/index.js'

const [, , path, account] = process.argv
const store = fileTokenStore({ path })
for (;;) {
  const stands = await store.read(account)
  const version = stands?.version ?? 0
  if (version !== (stands?.record.count ?? 0)) throw new Error(`version ${version} counts ${stands?.record.count}`)
  const next = { schema: 1, state: 'signed-out', generation: 0, count: version + 1 }
  // Some are sign-ins or sign-outs, after which nothing older is kept to fall back to.
  const answer = await store.swap(account, version, next, randomUUID(), { forgetOlder: version % 4 === 0 })
  if ('version' in answer) writeSync(1, `${answer.version}\n`)
}
