/**
 * Which host the tokens of an instance come from: its own, unless the option `tokenUrl` names another.
 */
import type { SsoSettings } from './options.ts'

export type TokenHosts = Pick<SsoSettings, 'tokenUrls'>

/** The base address that codes and refresh tokens of this instance go to. */
export function tokenUrlOf(authUrl: string, { tokenUrls }: TokenHosts): string {
  return tokenUrls.get(new URL(authUrl).origin) ?? authUrl
}
