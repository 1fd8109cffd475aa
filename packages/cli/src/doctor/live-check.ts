/**
 * Whether the owner API takes a token that this machine mints, with the person's consent: one refresh and one call; or, to find a
 * transport, one of each for every transport until one does.
 *
 * The service's edge was seen to refuse tokens by what they were minted over, which nothing but a token tells. A refused token gives way
 * to the one before it (the token manager keeps that), so a token that works is never given up. What is found is kept in the config file:
 * it depends on this machine's TLS, not on the account.
 */
import { type AgreedTransport, serviceProfile, type Sso, type TokenManager, transportNames } from '@owner-sso/core'
import { OwnerApiClosedError, OwnerApiTokenRefusedError, ownerFetch } from '@owner-sso/express'
import { requireSignedIn, chosenAccount } from '../tokens/account.ts'
import { exitCodes, usageError } from '../failure/command-error.ts'
import { failureOf } from '../terminal/failure.ts'
import { stopped } from '../failure/interruption.ts'
import { askConsent, canAsk } from '../terminal/prompts.ts'
import { apiUrlOf, connectionOf, serviceOf, usableServiceNameOf } from '../settings/configured-service.ts'
import { changeConfigFile } from '../settings/config-file.ts'
import { configFile } from '../machine/folders.ts'
import type { Settings } from '../settings/settings.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'

/** @throws CommandError where nobody agreed; nothing was sent */
export async function askForLive(settings: Settings, agreed: boolean, finds: boolean): Promise<void> {
  apiUrlOf(settings)
  if (agreed) return
  const refreshes = finds ? `up to ${transportNames.length} refreshes` : 'one refresh'
  const what = `make ${refreshes} at the SSO service, with a call of the owner API for each`
  if (!canAsk(settings)) throw usageError(`--live needs your consent to ${what}.`, 'Give --yes, or use a terminal.')
  if (await askConsent(`May it ${what}?`)) return
  throw usageError('Nothing was sent.', 'Run owner-sso doctor without --live for everything else.')
}

export function checkLive(settings: Settings): Promise<Finding[]> {
  return withMinter('live refresh', settings, {}, async (tokens, account, minter, findings) => {
    await requireSignedIn(account, tokens, () => tokens.refresh(account, { signal: stopped }))
    minter.isSpent = true
    findings.push(refreshed(account, settings, minter.agreed))
    findings.push(findingOf(await verdictOn(settings, account, tokens), account))
  })
}

/** The rows of the table, in the order in which they were tried, and what follows from them. */
export function findTransport(settings: Settings): Promise<Finding[]> {
  return withMinter('transport', settings, { minRefreshInterval: 0 }, async (tokens, account, minter, rows) => {
    const { transport: known } = settings
    const isValid = known !== undefined && (await tokens.status(account)).state === 'valid'
    if (isValid && isAccepted(await verdictOn(settings, account, tokens))) {
      const text = `${nameOf(known.value)} (${known.from}), and the owner API accepts its token: nothing was tried`
      return void rows.push(good('transport', text))
    }
    for (const name of transportNames) {
      minter.sso = serviceOf({ ...settings, transport: { value: name, from: '--find-transport' } })
      await requireSignedIn(account, tokens, () => tokens.refresh(account, { signal: stopped }))
      const verdict = await verdictOn(settings, account, tokens)
      const { tls = 'plain http', http = '1.1' } = minter.agreed ?? {}
      const minted = `minted over ${tls}, HTTP/${http}: `
      if (verdict === 'refused') {
        rows.push(note(name, `${minted}refused (403)`, 'Its token was put aside.'))
        continue
      }
      if (!isAccepted(verdict)) return void rows.push(findingOf(verdict, account))
      changeConfigFile((config) => ({ ...config, transport: name }))
      rows.push(good(name, `${minted}accepted`))
      const others = `other programs: OWNER_SSO_TRANSPORT=${name}`
      return void rows.push(good('transport', `${name} is kept in ${configFile}; ${others}`))
    }
    rows.push(problem('transport', 'The owner API refuses what each of them mints.', nothingHelps))
  })
}

const nothingHelps =
  'The token before them is still used while it lives. Sign in again: the token of a sign-in may be taken. owner-sso status says how long it lives.'

/** What refreshes here, and what its last connection agreed on. */
interface Minter {
  sso: Sso
  agreed: AgreedTransport | undefined
  /** Whatever asks for it, another refresh is not made. */
  isSpent: boolean
}

async function withMinter(
  about: string,
  settings: Settings,
  options: { readonly minRefreshInterval?: number },
  look: (tokens: TokenManager, account: string, minter: Minter, findings: Finding[]) => Promise<void>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  try {
    const minter: Minter = { sso: serviceOf(settings), agreed: undefined, isSpent: false }
    const issuer: Pick<Sso, 'refresh' | 'tokenUrlOf'> = {
      tokenUrlOf: (authUrl) => minter.sso.tokenUrlOf(authUrl),
      refresh(tokens, more) {
        if (minter.isSpent) return Promise.reject(new Error('doctor --live makes one refresh.'))
        return minter.sso.refresh(tokens, { ...more, onConnected: (agreed) => (minter.agreed = agreed) })
      },
    }
    await withTokens(
      settings,
      issuer,
      async ({ tokens }) => look(tokens, await chosenAccount(settings, tokens), minter, findings),
      options,
    )
  } catch (error) {
    const { message, next, exitCode } = failureOf(error)
    findings.push(problem(about, message, next, exitCode))
  }
  return findings
}

function refreshed(account: string, settings: Settings, agreed: AgreedTransport | undefined): Finding {
  if (agreed === undefined) {
    const text = `${account} was refreshed less than a minute ago, so nothing was sent: its token is looked at.`
    return note('live refresh', text, 'Wait a minute and look again, to see a token minted with these settings.')
  }
  const { tls = 'plain http', http } = agreed
  const name = nameOf(settings.transport?.value ?? serviceProfile(usableServiceNameOf(settings)).transport)
  return good('live refresh', `${account} has new tokens, over ${tls} and HTTP/${http} (transport ${name})`)
}

const nameOf = (transport: string | object): string =>
  typeof transport === 'string' ? transport : JSON.stringify(transport)

/** What the owner API made of a token: its status, or why there is none. */
type Verdict = number | 'refused' | 'closed' | 'unreachable'

/** One call of the list of vehicles. The manager hears of a refusal: the token before may still work. */
async function verdictOn(settings: Settings, account: string, tokens: TokenManager): Promise<Verdict> {
  const token = await tokens.getAccessToken(account, { signal: stopped })
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
    return status === 403 ? 'refused' : status
  } catch (error) {
    if (error instanceof OwnerApiTokenRefusedError) return 'refused'
    return error instanceof OwnerApiClosedError ? 'closed' : 'unreachable'
  }
}

/** What is accepted is a success: anything else says nothing of the token. */
const isAccepted = (verdict: Verdict): boolean => typeof verdict === 'number' && verdict >= 200 && verdict < 300

function findingOf(verdict: Verdict, account: string): Finding {
  const about = 'live call'
  const ifRefreshed = `If that is not it, refreshed tokens are refused: owner-sso login --account ${account}`
  if (isAccepted(verdict)) return good(about, `the owner API accepts the token (${verdict})`)
  switch (verdict) {
    case 'refused': {
      const next = 'Another transport may mint better ones: owner-sso doctor --live --find-transport tries them.'
      const text = 'The owner API refuses the token that was just issued (403).'
      return problem(about, text, `${next} ${ifRefreshed}`)
    }
    case 'closed': {
      const text = 'The owner API does not list vehicles at this address any more (412).'
      return problem(about, text, 'Set OWNER_SSO_SERVICE=current: its list is /api/1/products.')
    }
    case 401: {
      const next = `Check that --api-url belongs to the SSO service of --auth-url. ${ifRefreshed}`
      return problem(about, 'The owner API does not know the token (401).', next)
    }
    case 'unreachable':
      return problem(about, 'The owner API can’t be reached.', 'Check --api-url and the network.', exitCodes.network)
    default: {
      const text = `The owner API answered ${verdict}, which says nothing of the token.`
      return problem(about, text, 'Check --api-url, or try again later.', exitCodes.network)
    }
  }
}
