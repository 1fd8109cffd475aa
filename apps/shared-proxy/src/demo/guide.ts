/**
 * What the demo prints: the addresses, a key, and commands to try.
 */
export interface Guide {
  /** The one address. */
  readonly url: string
  readonly key: string
  readonly accounts: readonly string[]
  /** What runs: a name, its address, and the process where it has one of its own. */
  readonly parts: readonly { readonly name: string; readonly url: string; readonly pid?: number | undefined }[]
}

export function guideOf({ url, key, accounts, parts }: Guide): string {
  const [first = '', second = first] = accounts
  const call = (account: string): string =>
    `curl -s -H 'Authorization: Bearer ${key}' -H 'X-Owner-Account: ${account}' ${url}`
  const rows = parts.map((part) => {
    const process = part.pid === undefined ? '' : `process ${part.pid}`
    return `  ${part.name.padEnd(12)}${part.url.padEnd(32)}${process}`.trimEnd()
  })
  return `
Shared proxy: ${url}   (Ctrl-C ends it)

Behind it:
${rows.join('\n')}

API key of the demo client, for ${accounts.join(', ')}:
  ${key}

Try:
  ${call(first)}/api/1/vehicles
  ${call(second)}/api/1/vehicles
  ${call(first)}/api/1/stream -N
  curl -s ${url}/readyz
  curl -s ${url}/metrics
  kill -9 ${parts.find(({ pid }) => pid !== undefined)?.pid ?? ''}     # the others go on answering
`
}
