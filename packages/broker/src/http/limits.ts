/**
 * How often somebody may call, counted in this process's memory: each client all its calls, each address its wrong keys.
 */
import { isIPv6 } from 'node:net'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { KeptClient } from '../clients/client.ts'
import { RejectedCall, unknownKey } from './rejection.ts'

export interface CallLimits {
  /** Counts a client's call. @throws RejectedCall, with the time to wait */
  readonly countCall: (client: KeptClient) => Promise<void>
  /** Counts a wrong key. @throws RejectedCall, with the time to wait */
  readonly countWrongKey: (address: string) => Promise<void>
}

export interface CallLimitOptions {
  readonly callsPerMinute: number
  readonly wrongKeysPerMinute: number
}

/** Seconds. */
const duration = 60

export function callLimits({ callsPerMinute, wrongKeysPerMinute }: CallLimitOptions): CallLimits {
  const wrongKeys = new RateLimiterMemory({ points: wrongKeysPerMinute, duration })
  const calls = new Map<number, RateLimiterMemory>()
  /** Clients with the same limit are counted in one place, each by its name. */
  const limiterOf = (points: number): RateLimiterMemory => {
    const limiter = calls.get(points) ?? new RateLimiterMemory({ points, duration })
    calls.set(points, limiter)
    return limiter
  }
  return {
    countCall: ({ name, limits }) => count(limiterOf(limits?.callsPerMinute ?? callsPerMinute), name),
    countWrongKey: (address) => count(wrongKeys, networkOf(address), manyWrongKeys),
  }
}

const manyWrongKeys = `Many wrong keys came from this address: it has to wait. ${unknownKey}`

async function count(limiter: RateLimiterMemory, key: string, detail?: string): Promise<void> {
  const wait = await secondsToWait(limiter, key)
  if (wait > 0) throw new RejectedCall('ERR_BROKER_TOO_MANY_CALLS', { 'retry-after': String(wait) }, detail)
}

/** Counts one more. Resolves to the seconds until one is allowed again; 0 where this one is. */
export async function secondsToWait(limiter: RateLimiterMemory, key: string): Promise<number> {
  try {
    await limiter.consume(key)
    return 0
  } catch (rejected) {
    const wait = Number(Reflect.get(Object(rejected), 'msBeforeNext'))
    return Number.isFinite(wait) ? Math.max(1, Math.ceil(wait / 1000)) : duration
  }
}

/** One household has a whole IPv6 network: its first 64 bits count as one address. */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/u, '')
  if (!isIPv6(plain)) return plain
  // As a URL has it: the longest run of zeros left out, an IPv4 address in hexadecimal.
  const [before = '', after = ''] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const head = before === '' ? [] : before.split(':')
  const tail = after === '' ? [] : after.split(':')
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  const isMapped = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff'
  return isMapped ? groups.join(':') : groups.slice(0, 4).join(':')
}
