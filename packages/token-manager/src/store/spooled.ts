/**
 * What waits in the spool, as the driver asks for it: the spool only helps, so that one which fails fails nothing.
 */
import type { Context } from '../kernel/context.ts'
import type { Spooled } from '../kernel/steps.ts'

/** Where it can't be read, the store alone decides, as it would without one. */
export async function findSpooled(account: string, { spool, reportSpool }: Context): Promise<Spooled | undefined> {
  try {
    return await spool?.find(account)
  } catch (error) {
    reportSpool(error)
    return undefined
  }
}

/** What a sign-in or a sign-out has made worthless. Where the spool does not answer, the next look takes it out. */
export async function dropSpooled(account: string, context: Context): Promise<void> {
  const spooled = await findSpooled(account, context)
  if (spooled !== undefined) await context.spool?.clear(account, spooled.at).catch(() => false)
}
