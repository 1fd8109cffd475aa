/**
 * Which host the tokens of an instance come from: its own, unless the option `tokenUrl` names another.
 */
import type { SsoSettings } from './options.ts'

export type TokenHosts = Pick<SsoSettings, 'tokenUrls'>

/** The base address that codes and refresh tokens of this instance go to. */
export function tokenUrlOf(authUrl: string, { tokenUrls }: TokenHosts): string {
  const { origin } = new URL(authUrl)
  return tokenUrls.get(origin) ?? origin
}
