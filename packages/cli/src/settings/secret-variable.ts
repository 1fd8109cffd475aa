/**
 * Secrets out of the environment; never out of the arguments.
 */

/** The value of an environment variable; undefined where it is empty or not set. */
export function secretFromVariable(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}
