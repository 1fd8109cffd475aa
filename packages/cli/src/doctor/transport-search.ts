/**
 * Which transport mints tokens that the owner API takes: on a person's word each is tried, with one refresh and one call, until one does.
 *
 * A refused token gives way to the one before it (the token manager keeps that), so a token that works is never given up. What is found is
 * kept in the config file: it depends on this machine's TLS, not on the account.
 */
import {
  type AgreedTransport,
  type Sso,
  type TokenManager,
  type TransportName,
  transportNames,
  type TokenIssuer,
} from '@owner-sso/core'
import { failureOf } from '../terminal/failure.ts'
import { stopped } from '../failure/interruption.ts'
import { changeConfigFile } from '../settings/config-file.ts'
import { configFile } from '../machine/folders.ts'
import { serviceOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { chosenAccount, requireSignedIn } from '../tokens/account.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'
import { isAccepted, type Verdict, verdictOn } from './live-check.ts'

/** The rows of the table, in the order in which they were tried, and what follows from them. */
export async function findTransport(settings: Settings): Promise<Finding[]> {
  const minter = switchedMinter(settings)
  const rows: Finding[] = []
  try {
    await withTokens(settings, minter.sso, (keeping) => search(keeping.tokens), { minRefreshInterval: 0 })
  } catch (error) {
    const { message, next, exitCode } = failureOf(error)
    rows.push(problem('transport', message, next, exitCode))
  }
  return rows

  async function search(tokens: TokenManager): Promise<void> {
    const account = await chosenAccount(settings, tokens)
    const { transport: known } = settings
    if (known !== undefined && (await isGoodNow(tokens, account))) {
      const text = `${nameOf(known.value)} (${known.from}), and the owner API accepts its token: nothing was tried`
      rows.push(good('transport', text))
      return
    }
    for (const name of transportNames) {
      minter.use(name)
      await requireSignedIn(account, tokens, () => tokens.refresh(account, { signal: stopped }))
      const verdict = await verdictOn(settings, account, await tokens.getAccessToken(account), tokens)
      rows.push(row(name, minter.agreed(), verdict))
      if (isAccepted(verdict)) return keep(name)
      if (verdict !== 'refused') return
    }
    rows.push(problem('transport', 'The owner API refuses what each of them mints.', nothingHelps))
  }

  async function isGoodNow(tokens: TokenManager, account: string): Promise<boolean> {
    const { state } = await tokens.status(account)
    if (state !== 'valid') return false
    return isAccepted(await verdictOn(settings, account, await tokens.getAccessToken(account), tokens))
  }

  function keep(name: TransportName): void {
    changeConfigFile((config) => ({ ...config, transport: name }))
    rows.push(good('transport', `${name} is kept in ${configFile}; other programs: OWNER_SSO_TRANSPORT=${name}`))
  }
}

const nothingHelps =
  'The token before them is still used while it lives. Sign in again: the token of a sign-in may be taken. owner-sso status says how long it lives.'

function row(name: TransportName, agreed: AgreedTransport | undefined, verdict: Verdict): Finding {
  const { tls = 'plain http', http = '1.1' } = agreed ?? {}
  const minted = `minted over ${tls}, HTTP/${http}: `
  if (isAccepted(verdict)) return good(name, `${minted}accepted`)
  if (verdict === 'refused') return note(name, `${minted}refused (403)`, 'Its token was put aside.')
  const word = typeof verdict === 'object' ? `answered ${verdict.status}` : verdict
  return problem(
    name,
    `${minted}the owner API ${word === 'closed' ? 'has closed its list (412)' : `is ${word}`}`,
    'Mend that first.',
  )
}

/** Refreshes over the transport that is its turn, and says what was agreed. */
function switchedMinter(settings: Settings): {
  readonly sso: Pick<Sso, 'refresh' | 'tokenUrlOf'>
  readonly use: (name: TransportName) => void
  readonly agreed: () => AgreedTransport | undefined
} {
  let sso = serviceOf(settings)
  let agreed: AgreedTransport | undefined
  const refresh: TokenIssuer['refresh'] = (tokens, options) =>
    sso.refresh(tokens, { ...options, onConnected: (connected) => (agreed = connected) })
  return {
    sso: { tokenUrlOf: (authUrl) => sso.tokenUrlOf(authUrl), refresh },
    use(name) {
      agreed = undefined
      sso = serviceOf({ ...settings, transport: { value: name, from: '--find-transport' } })
    },
    agreed: () => agreed,
  }
}

const nameOf = (transport: string | object): string =>
  typeof transport === 'string' ? transport : JSON.stringify(transport)
