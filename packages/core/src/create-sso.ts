/**
 * `createSso`: the calls of one SSO service, led to the files that make them.
 */
import { createAuthorizationUrl } from './browser-login.ts'
import { createService } from './service.ts'
import type { Service } from './service.ts'
import { ssoSettings } from './sso-settings.ts'
import type { Sso, SsoOptions } from './sso.ts'
import { traceLogin } from './tracing.ts'

/**
 * One SSO service. Opens no connection yet, and takes no option from the environment.
 *
 * @throws TypeError that names the option
 */
export function createSso(options: SsoOptions): Sso {
  return ssoOf(createService(ssoSettings(options)))
}

/**
 * The calls of one service. The flow behind them, and with it axios, cheerio and tough-cookie, is loaded by the first call
 * that needs it.
 */
export function ssoOf(service: Service): Sso {
  const { authUrl } = service
  return {
    authUrl,
    login: (credentials, options = {}) =>
      traceLogin('login', authUrl, async () => (await scripted()).login(service, credentials, options)),
    beginLogin: (credentials, options = {}) =>
      traceLogin('beginLogin', authUrl, async () => (await scripted()).beginLogin(service, credentials, options)),
    completeLogin: (pending, answer, options = {}) =>
      traceLogin('completeLogin', authUrl, async () =>
        (await scripted()).completeLogin(service, pending, answer, options),
      ),
    createAuthorizationUrl: (hint = {}) => createAuthorizationUrl(service, hint),
    redeemCallback: (callbackUrl, request, options = {}) =>
      traceLogin('redeemCallback', authUrl, async () =>
        (await import('./callback-redemption.ts')).redeemCallback(service, callbackUrl, request, options),
      ),
    refresh: async (tokens, options = {}) =>
      (await import('./steps/refresh.ts')).refreshTokens(service, tokens, options),
    heedBlocks: (blocks) => void service.sharedBlocks.add(blocks),
  }
}

const scripted = (): Promise<typeof import('./scripted-login.ts')> => import('./scripted-login.ts')
