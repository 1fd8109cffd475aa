/**
 * Whether the owner API takes a token that this machine mints: one refresh and one call, with the person's consent.
 *
 * The service's edge was seen to refuse tokens by what they were minted over, which nothing but a token tells.
 */
import { type AgreedTransport, serviceProfile, type Sso, type TokenManager, transportNames } from '@owner-sso/core'
import { OwnerApiClosedError, OwnerApiTokenRefusedError, ownerFetch } from '@owner-sso/express'
import { requireSignedIn, chosenAccount } from '../tokens/account.ts'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { failureOf } from '../terminal/failure.ts'
import { stopped } from '../failure/interruption.ts'
import { askConsent, canAsk } from '../terminal/prompts.ts'
import { apiUrlOf, connectionOf, serviceOf, usableServiceNameOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'

/** @throws CommandError where nobody agreed; nothing was sent */
export async function askForLive(settings: Settings, agreed: boolean, finds: boolean): Promise<void> {
  apiUrlOf(settings)
  if (agreed) return
  const refreshes = finds ? `up to ${transportNames.length} refreshes` : 'one refresh'
  if (!canAsk(settings)) {
    throw usageError(
      `--live makes ${refreshes} at the SSO service, with a call of the owner API for each, and needs your consent.`,
      'Give --yes, or run it in a terminal.',
    )
  }
  if (await askConsent(`Make ${refreshes} at the SSO service, with a call of the owner API for each?`)) return
  throw new CommandError(
    exitCodes.usage,
    'Nothing was sent.',
    'Run owner-sso doctor without --live for everything else.',
  )
}

/** One refresh at most, and one call. */
export async function checkLive(settings: Settings): Promise<Finding[]> {
  try {
    const once = refreshOnce(serviceOf(settings))
    return await withTokens(settings, once.sso, async ({ tokens }) => {
      const account = await chosenAccount(settings, tokens)
      await requireSignedIn(account, tokens, () => tokens.refresh(account, { signal: stopped }))
      const token = await tokens.getAccessToken(account, { signal: stopped })
      return [refreshed(account, settings, once.agreed()), await checkCall(settings, account, token, tokens)]
    })
  } catch (error) {
    const { message, next, exitCode } = failureOf(error)
    return [problem('live refresh', message, next, exitCode)]
  }
}

/** Whatever asks for it, a second refresh is not made. */
function refreshOnce(sso: Pick<Sso, 'refresh' | 'tokenUrlOf'>): {
  readonly sso: Pick<Sso, 'refresh' | 'tokenUrlOf'>
  readonly agreed: () => AgreedTransport | undefined
} {
  let made = false
  let agreed: AgreedTransport | undefined
  return {
    agreed: () => agreed,
    sso: {
      tokenUrlOf: (authUrl) => sso.tokenUrlOf(authUrl),
      refresh(tokens, options) {
        if (made) return Promise.reject(new Error('doctor --live makes one refresh.'))
        made = true
        return sso.refresh(tokens, { ...options, onConnected: (connected) => (agreed = connected) })
      },
    },
  }
}

function refreshed(account: string, settings: Settings, agreed: AgreedTransport | undefined): Finding {
  if (agreed === undefined) {
    const text = `${account} was refreshed less than a minute ago, so nothing was sent: its token is looked at.`
    return note('live refresh', text, 'Wait a minute and look again, to see a token minted with these settings.')
  }
  const { tls = 'plain http', http } = agreed
  return good('live refresh', `${account} has new tokens, over ${tls} and HTTP/${http} (transport ${nameOf(settings)})`)
}

/** What the owner API made of a token. */
export type Verdict = { readonly status: number } | 'refused' | 'closed' | 'unreachable'

/** One call of the list of vehicles. The manager hears of a refusal: the token before may still work. */
export async function verdictOn(
  settings: Settings,
  account: string,
  token: string,
  tokens: TokenManager,
): Promise<Verdict> {
  const call = ownerFetch({
    // A refusal is an answer here, and no other token is tried.
    tokens: { ...tokens, getAccessToken: async () => token },
    account,
    target: apiUrlOf(settings),
    transport: 'document',
    ...connectionOf(settings),
  })
  try {
    const { vehicleList } = serviceProfile(usableServiceNameOf(settings))
    const { status, body } = await call(vehicleList, { signal: stopped })
    await body?.cancel()
    return status === 403 ? 'refused' : { status }
  } catch (error) {
    if (error instanceof OwnerApiTokenRefusedError) return 'refused'
    return error instanceof OwnerApiClosedError ? 'closed' : 'unreachable'
  }
}

/** What is accepted is a success: anything else says nothing of the token. */
export const isAccepted = (verdict: Verdict): boolean =>
  typeof verdict === 'object' && verdict.status >= 200 && verdict.status < 300

async function checkCall(settings: Settings, account: string, token: string, tokens: TokenManager): Promise<Finding> {
  const about = 'live call'
  const verdict = await verdictOn(settings, account, token, tokens)
  if (verdict === 'refused') return refusedToken(about, account)
  if (verdict === 'closed') return closedList(about)
  if (verdict === 'unreachable')
    return problem(about, 'The owner API can’t be reached.', 'Check --api-url and the network.', exitCodes.network)
  if (isAccepted(verdict)) return good(about, `the owner API accepts the token (${verdict.status})`)
  if (verdict.status === 401) return unknownToken(about, account)
  const text = `The owner API answered ${verdict.status}, which says nothing of the token.`
  return problem(about, text, 'Check --api-url, or try again later.', exitCodes.network)
}

function closedList(about: string): Finding {
  const text = 'The owner API does not list vehicles at this address any more (412).'
  return problem(about, text, 'Set OWNER_SSO_SERVICE=current: its list is /api/1/products.')
}

function unknownToken(about: string, account: string): Finding {
  const next = 'Check that --api-url belongs to the SSO service of --auth-url.'
  return problem(about, 'The owner API does not know the token (401).', `${next} ${ifRefreshed(account)}`)
}

const ifRefreshed = (account: string): string =>
  `If that is not it, refreshed tokens are refused: owner-sso login --account ${account}`

function refusedToken(about: string, account: string): Finding {
  return problem(
    about,
    'The owner API refuses the token that was just issued (403).',
    `Another transport may mint better ones: owner-sso doctor --live --find-transport tries them. ${ifRefreshed(account)}`,
  )
}

function nameOf({ transport, ...settings }: Settings): string {
  if (transport === undefined) return serviceProfile(usableServiceNameOf({ transport, ...settings })).transport
  return typeof transport.value === 'string' ? transport.value : JSON.stringify(transport.value)
}
