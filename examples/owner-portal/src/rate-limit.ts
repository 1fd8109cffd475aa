/**
 * How often a sign-in may be tried, counted before any request to the SSO service (reliability scenario M3): its firewall
 * would block the portal for all of its people.
 */
import { typedEmail } from '@owner-sso/core'
import type { Request, RequestHandler } from 'express'
import { ipKeyGenerator, rateLimit, type RateLimitInfo, type RateLimitRequestHandler } from 'express-rate-limit'
import { tooManyTries } from './errors.ts'
import { field } from './fields.ts'
import { sendPage } from './send-page.ts'

const windowMs = 15 * 60_000

export interface SignInLimit {
  /** 5 tries of one account from one address in 15 minutes. */
  readonly perAccount: RequestHandler
  /** 30 failed tries from one address over all accounts and ways to sign in, in 15 minutes. */
  readonly perAddress: RequestHandler
  /** 30 new sign-ins on the service's own page from one address in 15 minutes: each waits in memory for its person. */
  readonly newLinks: RequestHandler
  /** After a completed sign-in, its account is counted anew. */
  succeeded(request: Request, identity: string): void
}

/** Counts in this process's memory. */
export function signInLimit(): SignInLimit {
  const perAccount = limiter({
    limit: 5,
    keyGenerator: (request) => accountKey(request, field(request, 'identity')),
  })
  return {
    perAccount,
    perAddress: limiter({ limit: 30, keyGenerator: addressKey, skipSuccessfulRequests: true }),
    newLinks: limiter({ limit: 30, keyGenerator: addressKey }),
    succeeded: (request, identity) => perAccount.resetKey(accountKey(request, identity)),
  }
}

interface LimiterOptions {
  readonly limit: number
  readonly keyGenerator: (request: Request) => string
  readonly skipSuccessfulRequests?: boolean
}

function limiter(options: LimiterOptions): RateLimitRequestHandler {
  return rateLimit({
    ...options,
    windowMs,
    standardHeaders: false,
    legacyHeaders: false,
    async handler(request, response) {
      const info: RateLimitInfo | undefined = Reflect.get(request, 'rateLimit')
      const until = info?.resetTime?.getTime() ?? Date.now() + windowMs
      const seconds = Math.max(1, Math.ceil((until - Date.now()) / 1000))
      await sendPage(response, 429, tooManyTries(seconds), seconds)
    },
  })
}

/** One household has a whole IPv6 network: its /56 counts as one address. */
function addressKey({ ip }: Request): string {
  return ipKeyGenerator(ip ?? '', 56)
}

/** Other ways to write one account are one account. */
function accountKey(request: Request, identity: string): string {
  return `${addressKey(request)} ${typedEmail(identity).normalize('NFKC').toLowerCase()}`
}
