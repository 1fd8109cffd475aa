/** The two forms of every scenario: short by default, long with OWNER_SSO_SOAK=1 (`npm run soak`). */
export const isLong: boolean = process.env['OWNER_SSO_SOAK'] === '1'

export const figure = (short: number, long: number): number => (isLong ? long : short)

/** Random numbers that can be repeated: at least 0, less than 1 (mulberry32). The seed is `OWNER_SSO_SEED`, or 1. */
export function seededRandom(): () => number {
  let state = Number(process.env['OWNER_SSO_SEED'] ?? 1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A promise and what settles it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: (() => void) | undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open?.() }
}

/** Waits for what only the service can tell, by looking again and again. @throws Error where it never comes */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const began = performance.now(); !(await isSo()); await new Promise((resolve) => setTimeout(resolve, 2))) {
    if (performance.now() - began > 60_000) throw new Error(`waited in vain for ${String(isSo)}`)
  }
}
