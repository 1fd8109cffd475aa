/**
 * `createSso`: the calls of one SSO service. Each loads the file that makes it when it is first used.
 */
import { kinds, type OptionRows, parseCallOptions, whatCame, withoutClient } from '@owner-sso/token-manager/support'
import { createAuthorizationUrl } from './browser-login.ts'
import { createSsoContext, type SsoContext } from './sso-context.ts'
import { markedBy, requireOwn } from '../service/client.ts'
import { parseSsoOptions, type SsoOptions } from '../service/options.ts'
import { allowedInstance, tokenUrlOf } from '../service/region.ts'
import type { Sso } from './sso.ts'
import type { RefreshOptions } from '../steps/refresh.ts'
import { isOfAnotherOwner } from './token-owner.ts'
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
  const { authUrl, redirectUri, vehicleList, client } = service
  /** Token managers may let nothing out of this process. */
  const admit = (): void => service.sharedFirewallStates.forEach((state) => state.admit?.())
  const traced = <Result>(operation: string, call: () => Promise<Result>): Promise<Result> =>
    traceLogin(operation, authUrl, async () => {
      admit()
      return call()
    })
  const form = (): ReturnType<typeof scripted> => {
    if (service.service !== 'registered') return scripted()
    const instead = 'sign in in a browser, with createAuthorizationUrl() and redeemCallback()'
    throw new TypeError(`The login form is not for registered applications: ${instead}`)
  }
  return {
    authUrl,
    service: service.service,
    clientId: client.id,
    redirectUri,
    vehicleList,
    login: (credentials, options) =>
      traced('login', async () => {
        requireObject('login', 'identity, credential, passcode: login({ identity, credential })', credentials)
        const call = parseCallOptions('login(credentials, { signal })', options, credentials)
        return (await form()).login(service, credentials, call)
      }),
    beginLogin: (credentials, options) =>
      traced('beginLogin', async () => {
        requireObject('beginLogin', 'identity, credential: beginLogin({ identity, credential })', credentials)
        const call = parseCallOptions('beginLogin(credentials, { signal })', options, credentials)
        return (await form()).beginLogin(service, credentials, call)
      }),
    completeLogin: (pending, answer, options) =>
      traced('completeLogin', async () => {
        requireObject('completeLogin', 'passcode: completeLogin(pending, { passcode })', answer)
        const call = parseCallOptions('completeLogin(pending, answer, { signal })', options, answer)
        return (await scripted()).completeLogin(service, pending, answer, call)
      }),
    createAuthorizationUrl(hint = {}) {
      admit()
      return createAuthorizationUrl(service, hint)
    },
    redeemCallback: (callbackUrl, request, options) =>
      traced('redeemCallback', async () => {
        const call = parseCallOptions('redeemCallback(callbackUrl, request, { signal })', options)
        return (await import('./callback-redemption.ts')).redeemCallback(service, callbackUrl, request, call)
      }),
    refresh: async (tokens, options) => {
      admit()
      const call = parseCallOptions('refresh(tokens, { signal })', options, undefined, refreshRows)
      return (await import('../steps/refresh.ts')).refreshTokens(service, tokens, call)
    },
    async allowedAuthUrl(address) {
      const instance = await allowedInstance(address, service, 'token-manager')
      // Without a mark it is as another program of this client has named it.
      const marked = address === withoutClient(address) ? markedBy(service.client, instance) : address
      requireOwn(service.client, marked)
      return markedBy(service.client, instance)
    },
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

const refreshRows: OptionRows<RefreshOptions> = {
  signal: kinds.any,
  timeout: kinds.any,
  beforeSend: kinds.any,
  onConnected: kinds.any,
}

const scripted = (): Promise<typeof import('./scripted-login.ts')> => import('./scripted-login.ts')
