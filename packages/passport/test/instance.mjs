/**
 * One instance of an application that runs several, in a process of its own: the built package, a session store in a
 * folder that all instances share, and the key that they share.
 *
 * Environment: OWNER_SSO_AUTH_URL, SESSIONS (folder), PENDING_LOGIN_KEY (base64; none: in memory). Sends its port.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OwnerSsoStrategy } from '@owner-sso/passport'
import express from 'express'
import session from 'express-session'
import passport from 'passport'

const { SESSIONS, PENDING_LOGIN_KEY } = process.env

const pathOf = (id) => join(SESSIONS, `${id}.json`)

class FolderStore extends session.Store {
  get(id, done) {
    process.nextTick(done, null, existsSync(pathOf(id)) ? JSON.parse(readFileSync(pathOf(id), 'utf8')) : null)
  }
  set(id, content, done) {
    const temporary = `${pathOf(id)}.${process.pid}`
    writeFileSync(temporary, JSON.stringify(content))
    renameSync(temporary, pathOf(id))
    process.nextTick(done)
  }
  destroy(id, done) {
    rmSync(pathOf(id), { force: true })
    process.nextTick(done)
  }
}

const pendingLoginKey = PENDING_LOGIN_KEY && Buffer.from(PENDING_LOGIN_KEY, 'base64')
passport.use(new OwnerSsoStrategy(pendingLoginKey ? { pendingLoginKey } : {}))
passport.serializeUser((user, done) => done(null, user))
passport.deserializeUser((user, done) => done(null, user))

const app = express()
app.use(express.json())
app.use(session({ secret: 'shared', resave: false, saveUninitialized: false, store: new FolderStore() }))
app.use(passport.session())
app.post('/login', (req, res, next) => {
  passport.authenticate('owner-sso', (error, user, info, status) => {
    if (error) return next(error)
    if (!user) return res.status(status).json({ ...info, pid: process.pid })
    return req.logIn(user, (problem) => (problem ? next(problem) : res.json({ ...user, pid: process.pid })))
  })(req, res, next)
})
app.get('/me', (req, res) => res.json({ ...req.user, pid: process.pid }))

const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
