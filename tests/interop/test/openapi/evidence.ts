/** Real traffic against the description that the service gives of itself, in both directions. */
import { createChecks, type Verdict } from './checks.ts'
import { describedAnswers, describedBodies, type Json } from './description.ts'
import type { Exchange } from './traffic.ts'

export interface Evidence {
  readonly description: Json
  /** Of real logins: each request was in order, whatever came of it. */
  readonly logins: readonly Exchange[]
  /** Requests that lacked something the description requires. */
  readonly incomplete: readonly Exchange[]
  /** Requests that no description is about: only their answers count. */
  readonly outlandish: readonly Exchange[]
}

/** What of the traffic is not as described, and what of the description no traffic has shown. */
export function* contradictions({ description, logins, incomplete, outlandish }: Evidence): Generator<string> {
  const checks = createChecks(description)
  const met = new Set<string>()
  const problemsOf = (verdict: Verdict): readonly string[] => {
    for (const name of verdict.met) met.add(name)
    return verdict.problems
  }
  for (const exchange of logins) yield* problemsOf(checks.request(exchange))
  for (const exchange of [...logins, ...incomplete, ...outlandish]) yield* problemsOf(checks.answer(exchange))
  for (const exchange of incomplete) {
    const { method, url, status } = exchange
    if (status < 400) yield `${method} ${url}: ${status}, but the description requires more`
    if (checks.request(exchange).problems.length === 0) yield `${method} ${url}: ${status}, but as described`
  }
  const described = [...describedBodies(description), ...describedAnswers(description)]
  yield* described.filter((name) => !met.has(name)).map((name) => `never seen: ${name}`)
}
