/**
 * The budget for refreshes: before each refresh request, a place in the budget of its host.
 */
import type { GuardedStore } from '../../store/guarded-store.ts'
import { refreshBudgetRecordName } from '../../store/record-names.ts'
import { elapsed, instantOf, type Runtime } from '../../support/runtime.ts'
import { createHostBudget, type HostBudget } from './host-budget.ts'
import { longestWait, placeLife, type RequestBudget, windowsOf } from './request-budget.ts'
import { ownMemory, shareWindows } from './shared-windows.ts'
import type { Place, Rank } from './waiting-line.ts'

export interface RefreshBudget {
  /** Requests to one host in any minute, at the most. */
  readonly perMinute: number
  /**
   * Waits for a place.
   *
   * @param key - whom it is for; it waits once at a time
   * @param patience - milliseconds; by default what a request may take, and a little for the last place in that time
   * @throws RefreshBudgetError where it would take longer than a request may; StoreError where the store that is shared fails
   */
  place(authUrl: string, key: object, rank: Rank, patience?: number): Promise<Place>
  /** Whether it may still be used. */
  isUsable(place: Place): boolean
  /** It was not used. */
  giveBack(authUrl: string, place: Place): void
  /** Changes the rank of whoever waits already. */
  move(authUrl: string, key: object, rank: Rank): void
}

/** @param hostOf - the base address that tokens of an instance are refreshed at */
export function createRefreshBudget(
  budget: RequestBudget,
  store: GuardedStore,
  runtime: Runtime,
  isEnding: () => boolean,
  hostOf: (authUrl: string) => string = (authUrl) => authUrl,
): RefreshBudget {
  const figures = windowsOf(budget)
  const shared = budget.scope === 'process' ? ownMemory() : store
  const hosts = new Map<string, HostBudget>()
  function of(authUrl: string): HostBudget {
    const name = refreshBudgetRecordName(hostOf(authUrl))
    const known = hosts.get(name)
    if (known !== undefined) return known
    const host = createHostBudget({
      windows: shareWindows(name, shared, runtime, figures.length),
      figures,
      runtime,
      isEnding,
    })
    hosts.set(name, host)
    return host
  }
  return {
    perMinute: budget.perMinute,
    place: (authUrl, key, rank, patience = longestWait + placeLife) => of(authUrl).place(key, rank, patience),
    isUsable: (place) => elapsed(place, instantOf(runtime)) < placeLife,
    giveBack: (authUrl, place) => of(authUrl).giveBack(place),
    move: (authUrl, key, rank) => of(authUrl).move(key, rank),
  }
}
