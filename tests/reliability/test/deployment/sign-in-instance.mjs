/**
 * One instance of an application that signs people in over several, in a process of its own. Its sessions are what a thief
 * would wish for: the caller brings the content along, any copy of it, as often as they like.
 *
 * Environment: AUTH_URL, STORE (JSON, see `stores.ts`), PENDING_LOGIN_KEY (base64). Sends its port.
 */
import { createSso, createTokenManager } from '@owner-sso/core'
import { OwnerSsoStrategy } from '@owner-sso/passport'
import express from 'express'
import { Passport } from 'passport'
import { openStore } from './worker-store.mjs'

const { AUTH_URL, STORE, PENDING_LOGIN_KEY } = process.env
const { store } = await openStore(JSON.parse(STORE))
const sso = createSso({ authUrl: AUTH_URL })
const tokens = createTokenManager({ issuer: sso, store })
const passport = new Passport()
passport.use(new OwnerSsoStrategy({ sso, tokens, pendingLoginKey: Buffer.from(PENDING_LOGIN_KEY, 'base64') }))

const app = express()
app.use(express.json())
app.post('/', (request, response) => {
  request.session = { ...request.body.session, save: (done) => done(), regenerate: (done) => done() }
  passport.authenticate('owner-sso', (error, user, info) => {
    const { save: _save, regenerate: _regenerate, ...session } = request.session
    response.json({ account: user?.account, code: error?.code ?? info?.code, triesLeft: info?.triesLeft, session })
  })(request, response)
})

const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
