/**
 * `createSso`: the calls of one SSO service. Each loads the file that makes it when it is first used.
 */
import type { OptionNames } from '@owner-sso/token-manager'
import { parseCallOptions, whatCame } from '@owner-sso/token-manager/support'
import { createAuthorizationUrl } from './browser-login.ts'
import { createSsoContext, type SsoContext } from './sso-context.ts'
import { parseSsoOptions, type SsoOptions } from '../service/options.ts'
import { allowedInstance } from '../service/region.ts'
import type { Sso } from './sso.ts'
import type { RefreshOptions } from '../steps/refresh.ts'
import { isOfAnotherOwner } from './token-owner.ts'
import { tokenUrlOf } from '../service/token-hosts.ts'
import { traceLogin } from '../tracing.ts'

/**
 * One SSO service. Opens no connection yet, and takes no option from the environment.
 *
 * @throws TypeError that names the option
 */
export function createSso(options: SsoOptions): Sso {
  return ssoOf(createSsoContext(parseSsoOptions(options)))
}

/**
 * The calls of one service. The flow behind them, and with it axios, cheerio and tough-cookie, is loaded by the first call
 * that needs it.
 */
export function ssoOf(service: SsoContext): Sso {
  const { authUrl, vehicleList } = service
  return {
    authUrl,
    vehicleList,
    login: (credentials, options) =>
      traceLogin('login', authUrl, async () => {
        requireObject('login', 'identity, credential, passcode: login({ identity, credential })', credentials)
        const call = parseCallOptions('login(credentials, { signal })', options, credentials)
        return (await scripted()).login(service, credentials, call)
      }),
    beginLogin: (credentials, options) =>
      traceLogin('beginLogin', authUrl, async () => {
        requireObject('beginLogin', 'identity, credential: beginLogin({ identity, credential })', credentials)
        const call = parseCallOptions('beginLogin(credentials, { signal })', options, credentials)
        return (await scripted()).beginLogin(service, credentials, call)
      }),
    completeLogin: (pending, answer, options) =>
      traceLogin('completeLogin', authUrl, async () => {
        requireObject('completeLogin', 'passcode: completeLogin(pending, { passcode })', answer)
        const call = parseCallOptions('completeLogin(pending, answer, { signal })', options, answer)
        return (await scripted()).completeLogin(service, pending, answer, call)
      }),
    createAuthorizationUrl: (hint = {}) => createAuthorizationUrl(service, hint),
    redeemCallback: (callbackUrl, request, options) =>
      traceLogin('redeemCallback', authUrl, async () => {
        const call = parseCallOptions('redeemCallback(callbackUrl, request, { signal })', options)
        return (await import('./callback-redemption.ts')).redeemCallback(service, callbackUrl, request, call)
      }),
    refresh: async (tokens, options) => {
      const call = parseCallOptions('refresh(tokens, { signal })', options, undefined, refreshOptionNames)
      return (await import('../steps/refresh.ts')).refreshTokens(service, tokens, call)
    },
    allowedAuthUrl: (address) => allowedInstance(address, service, 'token-manager'),
    tokenUrlOf: (address) => tokenUrlOf(address, service),
    isOfAnotherOwner,
    useFirewallState: (state) => void service.sharedFirewallStates.add(state),
  }
}

/** Before its options: two texts, as other clients take them, would be told of their second alone. @throws TypeError */
function requireObject(call: string, members: string, given: unknown): void {
  const came = whatCame(given)
  if (typeof given === 'object' && came === '') return
  throw new TypeError(`${call} takes an object with ${members}${given === undefined ? '; nothing came' : came}`)
}

const refreshOptionNames: OptionNames<RefreshOptions> = {
  signal: true,
  timeout: true,
  beforeSend: true,
  onConnected: true,
}

const scripted = (): Promise<typeof import('./scripted-login.ts')> => import('./scripted-login.ts')
