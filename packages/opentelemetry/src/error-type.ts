/**
 * What kind of error ended a call: its code, or else its name. Its message may name a host or an account, and goes nowhere.
 */
export function errorType(error: unknown): string {
  const { code, name }: { readonly code?: unknown; readonly name?: unknown } =
    typeof error === 'object' && error !== null ? error : {}
  return [code, name].find((word) => typeof word === 'string' && /^\w{1,64}$/u.test(word))?.toString() ?? '_OTHER'
}
