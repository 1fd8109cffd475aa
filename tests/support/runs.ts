/** How often a property is tried: a short form here, a long one where `OWNER_SSO_FUZZ_RUNS` says so (a soak's 10,000). */
export function runs(short: number): number {
  return Number(process.env['OWNER_SSO_FUZZ_RUNS'] ?? short)
}
