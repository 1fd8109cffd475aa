/**
 * `checkRedis`: whether a server is set up to keep records, before the first one is lost.
 */
import { connectionOf, type Master, type RedisClient } from './connection.ts'
import { withinDeadline, commandDeadline } from './redis-failure.ts'

/** One thing about a server that can cost a token set. */
export interface RedisProblem {
  readonly about: 'eviction' | 'persistence'
  /** What is wrong and what to do. */
  readonly message: string
}

/**
 * Looks at every master of a deployment; ask at start-up, and print what comes back.
 *
 * @throws StoreError where it can't be reached, or may not be asked
 */
export async function checkRedis(client: RedisClient): Promise<RedisProblem[]> {
  const masters = await withinDeadline(connectionOf(client, commandDeadline).masters)
  const found = await Promise.all(masters.map(problemsOf))
  return found.flat().filter(({ message }, index, all) => all.findIndex((other) => other.message === message) === index)
}

async function problemsOf({ info }: Master): Promise<RedisProblem[]> {
  const [memory, persistence] = await Promise.all([
    withinDeadline(() => info('memory')),
    withinDeadline(() => info('persistence')),
  ])
  const policy = fieldOf(memory, 'maxmemory_policy')
  const problems: RedisProblem[] = []
  // Our keys have no time to live, so a volatile- policy spares them. Whatever else a server calls its policy may not.
  if (policy !== undefined && policy !== 'noeviction' && !policy.startsWith('volatile-')) {
    problems.push({
      about: 'eviction',
      message: `maxmemory-policy is ${policy}: under memory pressure Redis throws token sets away. Set maxmemory-policy noeviction.`,
    })
  }
  if (fieldOf(persistence, 'aof_enabled') === '0') {
    problems.push({
      about: 'persistence',
      message: 'The append-only file is off: a restart loses the newest token sets. Set appendonly yes.',
    })
  }
  return problems
}

function fieldOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*)$`, 'mu').exec(info)?.[1]?.trim()
}
