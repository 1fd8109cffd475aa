/**
 * Whether the owner API takes a token that this machine mints: one refresh and one call, with the person's consent.
 *
 * The service's edge was seen to refuse tokens by what they were minted over, which nothing but a token tells.
 */
import type { AgreedTransport, Sso, TokenManager } from '@owner-sso/core'
import { OwnerApiTokenRefusedError, ownerFetch } from '@owner-sso/express'
import { requireSignedIn, chosenAccount } from '../tokens/account.ts'
import { CommandError, exitCodes, usageError } from '../command-line/command-error.ts'
import { failureOf } from '../command-line/failure.ts'
import { stopped } from '../command-line/interruption.ts'
import { askConsent, canAsk } from '../terminal/prompts.ts'
import { apiUrlOf, serviceOf, connectionOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { type Finding, good, note, problem } from './finding.ts'

/** @throws CommandError where nobody agreed; nothing was sent */
export async function askForLive(settings: Settings, agreed: boolean): Promise<void> {
  apiUrlOf(settings)
  if (agreed) return
  if (!canAsk(settings)) {
    throw usageError(
      '--live makes one refresh at the SSO service and one call of the owner API, and needs your consent.',
      'Give --yes, or run it in a terminal.',
    )
  }
  if (await askConsent('Make one refresh at the SSO service and one call of the owner API?')) return
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

async function checkCall(settings: Settings, account: string, token: string, tokens: TokenManager): Promise<Finding> {
  const about = 'live call'
  const call = ownerFetch({
    // A refusal is an answer here, and no other token is tried. The manager hears of it: the token before may still work.
    tokens: { ...tokens, getAccessToken: async () => token },
    account,
    target: apiUrlOf(settings),
    transport: 'document',
    ...connectionOf(settings),
  })
  try {
    const { status, body } = await call('/api/1/vehicles', { signal: stopped })
    await body?.cancel()
    if (status === 401) return unknownToken(about, account)
    if (status === 403) return refusedToken(about, settings, account)
    if (status < 500) return good(about, `the owner API accepts the token (${status})`)
    return problem(about, `The owner API answered ${status}.`, 'Try again later.', exitCodes.network)
  } catch (error) {
    if (error instanceof OwnerApiTokenRefusedError) return refusedToken(about, settings, account)
    return problem(about, 'The owner API can’t be reached.', 'Check --api-url and the network.', exitCodes.network)
  }
}

function unknownToken(about: string, account: string): Finding {
  const next = 'Check that --api-url belongs to the SSO service of --auth-url.'
  return problem(about, 'The owner API does not know the token (401).', `${next} ${ifRefreshed(account)}`)
}

const ifRefreshed = (account: string): string =>
  `If that is not it, refreshed tokens are refused: owner-sso login --account ${account}`

function refusedToken(about: string, settings: Settings, account: string): Finding {
  const next = nameOf(settings) === 'modern' ? 'document' : 'modern'
  return problem(
    about,
    'The owner API refuses the token that was just issued (403).',
    `Try another transport next: owner-sso doctor --live --transport ${next}. Set the one that helps as OWNER_SSO_TRANSPORT. ${ifRefreshed(account)}`,
  )
}

function nameOf({ transport }: Settings): string {
  if (transport === undefined) return 'document'
  return typeof transport.value === 'string' ? transport.value : JSON.stringify(transport.value)
}
