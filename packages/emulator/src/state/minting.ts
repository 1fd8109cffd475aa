/**
 * What a token was minted over: TLS and HTTP version of the request that it was issued to, and whether the owner API minds.
 */
import type { EmulatorSettings } from '../options/options.ts'
import { isCurrent } from './strictness.ts'

/** Versions of the connection that a token was issued on; undefined for one that no request asked for. */
export interface Minting {
  /** `TLSv1.2`, `TLSv1.3`; undefined over plain http. */
  readonly tlsVersion: string | undefined
  /** `1.1`, `2`. */
  readonly httpVersion: string
}

/** The two versions of a request's connection; nothing else of the request is kept. */
export function mintingOf({ tlsVersion, httpVersion }: Minting): Minting {
  return { tlsVersion, httpVersion }
}

/** Such as `TLSv1.3, HTTP/2`. */
export function describeMinting(minting: Minting | undefined): string {
  if (!minting) return 'issued by hand'
  return `${minting.tlsVersion ?? 'plain http'}, HTTP/${minting.httpVersion}`
}

/** Whether the owner API takes a token. One that no request asked for is always taken. */
export function isTaken(
  minting: Minting | undefined,
  settings: Pick<EmulatorSettings, 'mintedBy' | 'service'>,
): boolean {
  const rules = settings.mintedBy
  if (!minting || rules === null) return true
  if (rules === undefined)
    return !isCurrent(settings) || minting.tlsVersion !== 'TLSv1.2' || minting.httpVersion !== '1.1'
  const { tls = minting.tlsVersion, http = minting.httpVersion } = rules
  return tls === minting.tlsVersion && http === minting.httpVersion
}
