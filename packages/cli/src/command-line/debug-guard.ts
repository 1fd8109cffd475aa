/**
 * Node's own debugging output prints requests, with passwords and tokens in them: it is refused.
 */
import { usageError } from '../failure/command-error.ts'

const loud = /^(?:\*|https?|http2|tls|net|stream|undici|fetch|follow-redirects|axios)/iu

/** @throws CommandError unless `force` says that this is wanted */
export function refuseDebugging(force: boolean, env: NodeJS.ProcessEnv = process.env): void {
  if (force) return
  for (const variable of ['NODE_DEBUG', 'DEBUG']) {
    const sections = (env[variable] ?? '').split(/[\s,]+/u)
    if (!sections.some((section) => loud.test(section))) continue
    throw usageError(
      `${variable} is set: Node would print passwords and tokens on this terminal.`,
      `Unset ${variable}, or add --force if nobody else sees the output.`,
    )
  }
}
