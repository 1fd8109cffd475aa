/**
 * Whether the firewall of the SSO service blocks this machine, as the processes that share the store remember it.
 */
import { firewallRecordName, type TokenStore } from '@owner-sso/core'
import { exitCodes } from '../command-line/command-error.ts'
import { duration } from '../terminal/duration.ts'
import { tokenUrlsOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { type Finding, problem } from './finding.ts'

export async function checkBlocks(store: TokenStore, settings: Settings): Promise<Finding[]> {
  const { authUrl, regionalAuthUrls } = settings
  const findings: Finding[] = []
  for (const url of new Set([authUrl?.value, ...regionalAuthUrls.value, ...tokenUrlsOf(settings)])) {
    if (url === undefined || !URL.canParse(url)) continue
    const record = (await store.read(firewallRecordName(url)))?.record
    if (record?.state !== 'firewall' || record.challenges === 0) continue
    const left = record.noted_at + record.wait - Date.now() / 1000
    if (left > 0) findings.push(blocked(new URL(url).host, left))
  }
  return findings
}

function blocked(host: string, seconds: number): Finding {
  const text = `The firewall of ${host} blocks this machine: nothing is sent there for another ${duration(seconds)}.`
  return problem(
    'firewall',
    text,
    'Wait until then. Each request in between can prolong the block.',
    exitCodes.firewall,
  )
}
