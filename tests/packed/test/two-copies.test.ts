/** Two copies of core, and of the token manager, in one process, as a package manager makes them where versions differ: what the one throws, the other knows. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from '@jest/globals'
import { startEmulator } from '@owner-sso/emulator'
import { installed, project, runInProject } from './empty-project.ts'

const folder = join(project, 'two-copies')

/** `ours` is the application's copy of core; the adapters and the stores find another one, which is `theirs`. */
const program = `
import { once } from 'node:events'
import express from 'express'
import passport from 'passport'
import * as ours from '@owner-sso/core'
import * as theirs from '../node_modules/@owner-sso/core/dist/index.js'
import { OwnerSsoStrategy } from '@owner-sso/passport'
import { memoryTokenStore } from '@owner-sso/token-store-memory'

const authUrl = process.env.OWNER_SSO_AUTH_URL
const identity = 'plain@example.com'
const credential = 'correct horse'

async function wrongPassword() {
  const sso = ours.createSso({ authUrl })
  const tokens = ours.createTokenManager({ issuer: sso, store: memoryTokenStore() })
  passport.use(new OwnerSsoStrategy({ sso, tokens }))
  const sign = passport.authenticate('owner-sso', { session: false })
  const app = express().use(express.json()).post('/', sign).use((error, req, res, next) => res.sendStatus(500))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const body = JSON.stringify({ identity, credential: 'a guess' })
  const headers = { 'content-type': 'application/json' }
  const { status } = await fetch('http://127.0.0.1:' + server.address().port, { method: 'POST', headers, body })
  server.close()
  return status
}

async function refusedRefresh() {
  const sso = theirs.createSso({ authUrl })
  const tokens = ours.createTokenManager({ issuer: sso, store: memoryTokenStore() })
  const set = await sso.login({ identity, credential })
  await tokens.save('refused', { ...JSON.parse(JSON.stringify(set)), refresh_token: 'made up', expires_at: 0 })
  return tokens.getAccessToken('refused').catch((error) => error.code)
}

async function wrongKey() {
  const sso = ours.createSso({ authUrl })
  const store = memoryTokenStore()
  const sealedWith = (byte) => theirs.withEncryption(store, [new Uint8Array(32).fill(byte)])
  await ours.createTokenManager({ issuer: sso, store: sealedWith(1) }).save(identity, await sso.login({ identity, credential }))
  const other = ours.createTokenManager({ issuer: sso, store: sealedWith(2) })
  return other.getAccessToken(identity).catch((error) => error.reason)
}

/** The classes of errors that an error of the other copy is an instance of. */
function classesOf(error) {
  return Object.keys(ours).filter((name) => name.endsWith('Error') && error instanceof ours[name])
}

class OwnError extends ours.SsoError {}
const duplicate = new theirs.DuplicateTokenSetError('a')
console.log(JSON.stringify({
  copies: ours.SsoError === theirs.SsoError ? 1 : 2,
  wrongPassword: await wrongPassword(),
  refusedRefresh: await refusedRefresh(),
  wrongKey: await wrongKey(),
  locked: classesOf(new theirs.AccountLockedError()),
  store: classesOf(new theirs.StoreError('busy', 'busy')),
  duplicate: classesOf(duplicate),
  otherOwner: classesOf(new theirs.OtherOwnerError()),
  others: [new Error('x'), { code: 'ERR_SSO_STORE' }, null, 'ERR_SSO_STORE', undefined].flatMap(classesOf),
  derived: [new OwnError('ERR_SSO_STORE', 'x') instanceof OwnError, duplicate instanceof OwnError],
}))
`

beforeAll(() => {
  mkdirSync(join(folder, 'node_modules/@owner-sso'), { recursive: true })
  for (const name of ['@owner-sso/core', '@owner-sso/token-manager']) {
    cpSync(installed(name), join(folder, 'node_modules', name), { recursive: true })
  }
  writeFileSync(join(folder, 'program.mjs'), program)
})

it('two copies of core in one process know each other’s errors', async () => {
  await using emulator = await startEmulator()
  const printed = await runInProject(process.execPath, ['two-copies/program.mjs'], {
    OWNER_SSO_AUTH_URL: emulator.authUrl,
  })
  expect(JSON.parse(printed)).toEqual({
    copies: 2,
    wrongPassword: 401,
    refusedRefresh: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
    wrongKey: 'wrong-key',
    locked: ['AccountLockedError', 'SsoError'],
    store: ['SsoError', 'StoreError'],
    duplicate: ['DuplicateTokenSetError', 'SsoError', 'StoreError'],
    otherOwner: ['OtherOwnerError', 'ReauthenticationRequiredError', 'SsoError'],
    others: [],
    derived: [true, false],
  })
})
