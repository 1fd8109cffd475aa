/**
 * Reads that are asked for at once go to the database as one statement: who looks at many accounts side by side waits for a
 * round trip a hundred accounts, not for one an account.
 */
import type { Row } from './database.ts'

/** Rows that one statement reads at the most, so that an answer takes little memory. */
const most = 100

/**
 * @param read - reads the rows of some accounts, by their hashes
 * @returns what reads the row of one; undefined where there is none
 */
export function joinReads(
  read: (hashes: readonly string[]) => Promise<readonly Row[]>,
): (hash: string) => Promise<Row | undefined> {
  let asked = new Set<string>()
  let rows: Promise<ReadonlyMap<string, Row>> | undefined

  async function readAsked(mine: ReadonlySet<string>): Promise<ReadonlyMap<string, Row>> {
    // Whoever asks in this turn is in time; whoever asks later may not get what was read before.
    await Promise.resolve()
    if (asked === mine) rows = undefined
    return new Map((await read([...mine])).map((row) => [String(row['account_hash']), row]))
  }

  return async (hash) => {
    if (rows === undefined || asked.size >= most) rows = readAsked((asked = new Set()))
    asked.add(hash)
    return (await rows).get(hash)
  }
}
