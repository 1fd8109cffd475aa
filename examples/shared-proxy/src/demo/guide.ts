/**
 * What the demo prints: the address, a key, and commands to try.
 */
export interface Guide {
  readonly url: string
  readonly key: string
  readonly accounts: readonly string[]
  /** What runs: a name, and its address or process. */
  readonly parts: readonly (readonly [name: string, where: string])[]
  /** The process of an instance that may be killed. */
  readonly pid: number | undefined
}

export function guideOf({ url, key, accounts, parts, pid }: Guide): string {
  const [first = '', second = first] = accounts
  const call = (account: string): string =>
    `curl -s -H 'Authorization: Bearer ${key}' -H 'X-Owner-Account: ${account}' ${url}`
  return `
Shared proxy: ${url}   (Ctrl-C ends it)

Behind it:
${parts.map(([name, where]) => `  ${name.padEnd(12)}${where}`).join('\n')}

API key of the demo client, for ${accounts.join(', ')}:
  ${key}

Try:
  ${call(first)}/api/1/products
  ${call(second)}/api/1/products
  ${call(first)}/api/1/stream -N
  curl -s ${url}/readyz
  curl -s ${url}/metrics
  kill -9 ${pid}     # the others go on answering
`
}
