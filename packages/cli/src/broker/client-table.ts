/**
 * The programs that were let in as lines of text: whose tokens each gets, how often it called, and when it last did.
 */
import { visible } from '@owner-sso/core'
import type { ListedClient } from '@owner-sso/broker'
import { duration } from '../terminal/duration.ts'

export function clientTable(clients: readonly ListedClient[]): string[] {
  const rows = clients.map(cells)
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) => {
    const padded = row.map((cell, column) => cell.padEnd(widths[column] ?? 0))
    return padded.join('  ').trimEnd()
  })
}

function cells({ name, accounts, scope, calls, last_used_at: used, last_address: address }: ListedClient): string[] {
  const last =
    used === undefined ? 'never used' : `${duration(Date.now() / 1000 - used)} ago from ${address ?? 'unknown'}`
  return [visible(name), visible(accounts.join(', ')), scope.join(', '), `${calls} call${calls === 1 ? '' : 's'}`, last]
}
