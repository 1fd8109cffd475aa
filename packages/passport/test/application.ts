/** An Express application as users write it around the strategy, with a look into its session store. */
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import session from 'express-session'
import passport from 'passport'
import request from 'supertest'
import type { OwnerSsoStrategy } from '../src/index.ts'

export interface Application {
  readonly app: Express
  /** A person's browser: keeps its cookies. */
  browser(): ReturnType<typeof request.agent>
  /** Everything that stands in the session store, as text. */
  storedSessions(): string
}

/**
 * `/login` answers the user, or `info` with its status. `/me`, `/pending`, `/cancel` and `/logout` do what they say.
 *
 * @param options - for `passport.authenticate`
 */
export function startApplication(strategy: OwnerSsoStrategy, options: passport.AuthenticateOptions = {}): Application {
  const store = new session.MemoryStore()
  const authenticator = new passport.Passport()
  authenticator.use(strategy)
  authenticator.serializeUser((user, done) => done(null, user))
  authenticator.deserializeUser((user: Express.User, done) => done(null, user))

  const app = express()
  app.use(express.urlencoded({ extended: true, limit: '1mb' }), express.json({ limit: '1mb' }))
  app.use(session({ secret: 'a secret of this test', resave: false, saveUninitialized: false, store }))
  app.use(authenticator.session())

  app.post('/login', (req: Request, res: Response, next: NextFunction) => {
    const answer: passport.AuthenticateCallback = (error, user, info, status) => {
      if (error) return next(error)
      if (!user) return res.status(Number(status)).json(info)
      return req.logIn(user, (problem) => (problem ? next(problem) : res.json(user)))
    }
    authenticator.authenticate(strategy.name, options, answer)(req, res, next)
  })
  app.post('/passport-login', authenticator.authenticate(strategy.name, options), (req, res) => res.json(req.user))
  app.get('/callback', authenticator.authenticate(strategy.name, options), (req, res) => res.json(req.user))
  app.get('/me', (req, res) => res.json(req.user ?? null))
  app.get('/pending', (req, res) => res.json(strategy.pendingLogin(req) ?? null))
  app.post('/cancel', (req, res, next) => {
    strategy.cancelPendingLogin(req).then(() => res.json({}), next)
  })
  app.post('/logout', (req, res, next) => req.logout((error) => (error ? next(error) : res.json({}))))
  app.get('/session', (req, res) => {
    req.session.touch()
    Object.assign(req.session, { visited: true })
    res.json({})
  })

  return {
    app,
    browser: () => request.agent(app),
    storedSessions: () => JSON.stringify(Reflect.get(store, 'sessions')),
  }
}

/** The session id of an answer's cookie. */
export function sessionIdIn(response: { readonly headers: Record<string, unknown> }): string | undefined {
  return /connect\.sid=([^;]+)/u.exec(String(response.headers['set-cookie']))?.[1]
}
