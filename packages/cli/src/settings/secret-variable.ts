/**
 * Secrets out of the environment; never out of the arguments.
 */
import { checkedSecret } from './secret-text.ts'

/** The value of an environment variable; undefined where it is empty or not set. @throws CommandError for what can be no secret */
export function secretFromVariable(name: string): string | undefined {
  return checkedSecret(process.env[name] ?? '', name) || undefined
}
