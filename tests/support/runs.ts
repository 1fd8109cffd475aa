/** Whether scenarios run in their long form: `npm run soak`. */
export const isSoak: boolean = process.env['OWNER_SSO_SOAK'] === '1'

/** How often a property is tried: thirty times as often in a soak. Each run has a seed of its own. */
export function runs(short: number): number {
  return isSoak ? 30 * short : short
}
