/**
 * Metrics: what is served, refreshed, waited for and blocked, and how long the worst account still has. No attribute names an
 * account.
 */
import type { Meter, ObservableCallback, ObservableGauge } from '@opentelemetry/api'
import {
  type AccountNews,
  accountNews,
  budgetWaits,
  errorType,
  follow,
  listen,
  type Refresh,
  refreshes,
  servedTokens,
  steps,
} from './channels.ts'

/** Returns what ends it. */
export function measure(meter: Meter): (() => void)[] {
  return [...measureTokens(meter), ...measureRefreshes(meter), ...measureBudget(meter)]
}

function measureTokens(meter: Meter): (() => void)[] {
  const served = meter.createCounter('owner_sso.token.served', {
    unit: '{token}',
    description: 'Access tokens that callers got.',
  })
  const remaining = meter.createObservableGauge('owner_sso.token.remaining', {
    unit: 's',
    description: 'Time until the first access token of an account ends; negative since one has ended.',
  })
  const waiters = meter.createObservableGauge('owner_sso.refresh.waiters', {
    unit: '{call}',
    description: 'Callers that wait for a refresh.',
  })
  const accounts = new Map<string, AccountNews>()
  const note = (news: unknown): void => {
    if (!isAccountNews(news)) return
    if (news.expires_at === undefined && news.waiting === 0) accounts.delete(news.account)
    else accounts.set(news.account, news)
  }
  return [
    listen(servedTokens, () => served.add(1)),
    listen(accountNews, note),
    observing(remaining, () => {
      let first = Number.POSITIVE_INFINITY
      for (const { expires_at = first } of accounts.values()) first = Math.min(first, expires_at)
      return Number.isFinite(first) ? first - Date.now() / 1000 : undefined
    }),
    observing(waiters, () => {
      let waiting = 0
      for (const account of accounts.values()) waiting += account.waiting
      return waiting
    }),
  ]
}

function measureRefreshes(meter: Meter): (() => void)[] {
  const duration = meter.createHistogram('owner_sso.refresh.duration', {
    unit: 's',
    description: 'Refresh requests until new tokens are stored, by outcome: tokens, or the code of the error.',
    advice: { explicitBucketBoundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] },
  })
  const replays = meter.createCounter('owner_sso.refresh.replays', {
    unit: '{request}',
    description: 'Refresh requests that were sent again, since the response to an earlier one had been lost.',
  })
  const blocks = meter.createCounter('owner_sso.firewall.blocks', {
    unit: '{response}',
    description: 'Requests that the firewall of the service answered in its place.',
  })
  const countBlock = ({ error }: { readonly error?: unknown }): void => {
    if (error !== undefined && errorType(error) === 'ERR_SSO_FIREWALL_CHALLENGE') blocks.add(1)
  }
  const began = new WeakMap<Refresh, number>()
  return [
    follow(refreshes, {
      begun: (refresh) => void began.set(refresh, performance.now()),
      ended(refresh) {
        const { error, reason, replay } = refresh
        countBlock(refresh)
        if (replay) replays.add(1)
        const start = began.get(refresh)
        if (start === undefined) return
        duration.record((performance.now() - start) / 1000, {
          'owner_sso.refresh.outcome': error === undefined ? 'tokens' : errorType(error),
          'owner_sso.refresh.reason': reason,
        })
      },
    }),
    follow(steps, { ended: countBlock }),
  ]
}

function measureBudget(meter: Meter): (() => void)[] {
  const places = meter.createCounter('owner_sso.budget.places', {
    unit: '{request}',
    description: 'Places in the budget for refreshes that were taken, or refused.',
  })
  const limit = meter.createObservableGauge('owner_sso.budget.limit', {
    unit: '{request}',
    description: 'Places in the budget of a host in any minute.',
  })
  let perMinute: number | undefined
  return [
    follow(budgetWaits, {
      ended({ per_minute, error }) {
        perMinute = per_minute
        places.add(1, { 'owner_sso.budget.outcome': error === undefined ? 'taken' : errorType(error) })
      },
    }),
    observing(limit, () => perMinute),
  ]
}

function observing(gauge: ObservableGauge, value: () => number | undefined): () => void {
  const observe: ObservableCallback = (result) => {
    const now = value()
    if (now !== undefined) result.observe(now)
  }
  gauge.addCallback(observe)
  return () => gauge.removeCallback(observe)
}

function isAccountNews(message: unknown): message is AccountNews {
  return typeof message === 'object' && message !== null && 'account' in message && 'waiting' in message
}
