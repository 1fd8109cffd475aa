/**
 * The portal: its parts, put together.
 */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Sso, TokenManager, TransportOption } from '@owner-sso/core'
import { type OwnerApiProxy, ownerApiProxy } from '@owner-sso/express'
import { OwnerSsoStrategy, type OwnerSsoUser } from '@owner-sso/passport'
import express, { type Express, type Request } from 'express'
import type { Store } from 'express-session'
import { Passport } from 'passport'
import { ownerOf } from './account.ts'
import { browserSignInRoutes } from './browser-sign-in.ts'
import { errorPages, notFound, troubleLine } from './errors.ts'
import { homeRoutes } from './home.ts'
import { listVehicles } from './owner-api.ts'
import { csrfProtection } from './form-token.ts'
import type { Html } from '@owner-sso/sign-in-pages'
import { style } from './pages/layout.ts'
import { passcodeRoutes } from './passcode.ts'
import { ownerApiPath, type Portal } from './portal.ts'
import { signInLimit } from './rate-limit.ts'
import { sameOrigin, securityHeaders } from './security.ts'
import { portalSession } from './session.ts'
import { signInRoutes } from './sign-in.ts'

export interface PortalOptions {
  /** The service to sign in with. */
  readonly sso: Sso
  /** Has the tokens of everybody who signs in; over a memory store where absent. */
  readonly tokens?: TokenManager
  /** Base address of the owner API. */
  readonly apiUrl: string
  /** How the owner API is spoken to. */
  readonly transport?: TransportOption | undefined
  /** Whether people reach the portal over https, through a proxy that ends TLS and sets `X-Forwarded-Proto` and `-For`. */
  readonly behindHttpsProxy?: boolean
  /** Signs the cookies; random for each start where absent. */
  readonly sessionSecret?: string | undefined
  /** Where sessions are kept; this process's memory where absent. */
  readonly sessionStore?: Store
  /** Makes a box with the demo accounts for the sign-in page at the path `here`. */
  readonly demo?: ((here: string) => Html) | undefined
  /** Gets one line for each fault of the portal's own, and what a page leaves out of a fault elsewhere. Default: standard error. */
  readonly log?: (line: string) => void
}

/** @throws TypeError naming the option that is wrong. */
export function createApp(options: PortalOptions): Express {
  const { behindHttpsProxy: secure = false, log = console.error } = options
  const { sessionSecret: secret = randomBytes(32).toString('hex') } = options
  const portal = createPortal(options)

  const app = express()
  app.disable('x-powered-by')
  // The proxy's own word for who came, and no one else's.
  app.set('trust proxy', secure ? 1 : false)
  app.use(securityHeaders(secure))
  const assets = fileURLToPath(new URL('../assets', import.meta.url))
  app.get('/assets/style.css', (_request, response) => response.type('css').send(style))
  app.use('/assets', express.static(assets, { cacheControl: false, index: false, redirect: false }))
  app.use(sameOrigin())
  app.use(portalSession({ secure, secret, store: options.sessionStore }))
  app.use(express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 }))
  app.use(portal.passport.session())
  app.use(csrfProtection({ secure, secret }))
  app.use(ownerApiPath, ownerApiAsItIs(options, portal, log))
  app.use(signInRoutes(portal), passcodeRoutes(portal), browserSignInRoutes(portal), homeRoutes(portal))
  app.use(notFound())
  app.use(errorPages(log))
  return app
}

/** The owner API's own answer, for the link of the home page: the list of the signed-in account's vehicles alone. */
function ownerApiAsItIs(
  { sso, apiUrl, transport }: PortalOptions,
  { tokens }: Portal,
  log: (line: string) => void,
): OwnerApiProxy<Request> {
  return ownerApiProxy({
    target: apiUrl,
    transport,
    tokens,
    account: (request: Request) => ownerOf(request)?.account,
    authorize: ({ method }) => method === 'GET',
    paths: [sso.vehicleList],
    onProblem: (error, { code }) => log(troubleLine(code, error)),
  })
}

function createPortal({ sso, tokens: manager, apiUrl, transport, demo }: PortalOptions): Portal {
  const browser = new OwnerSsoStrategy({ sso, tokens: manager, mode: 'browser' })
  const { tokens } = browser
  const { redirectUri, vehicleList } = sso
  // A registered application has no login form to fill in.
  const hasForm = sso.service !== 'registered'
  const form = hasForm ? new OwnerSsoStrategy({ sso, tokens }) : browser
  const passport = new Passport()
  passport.use('form', form).use('browser', browser)
  passport.serializeUser((user, done) => done(null, user))
  passport.deserializeUser((user: OwnerSsoUser, done) => done(null, user))
  return {
    passport,
    hasForm,
    form,
    browser,
    redirectUri,
    tokens,
    vehicles: listVehicles({ url: apiUrl, vehicleList, tokens, transport }),
    vehicleList,
    limit: signInLimit(),
    demo,
  }
}
