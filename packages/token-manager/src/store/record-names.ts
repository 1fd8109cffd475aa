/**
 * The names of records that are no account's. No account may be called like them.
 */
const ours = 'owner-sso:'
const notes = `${ours}notes:`

export const isOwnRecordName = (name: string): boolean => name.startsWith(ours)

/** Whether a record of ours says nothing that can't be said again, so that one which can't be read is replaced. */
export const isBegunAnew = (name: string): boolean => isOwnRecordName(name) && !name.startsWith(notes)

/** Whether a record of ours is about the store that it stands in, and so of no use in another one. */
export const isOfOneStore = (name: string): boolean => name === rollCallName || name === keeperRecordName

/**
 * The name under which a store keeps what is known about the firewall of an instance of the service: a `FirewallRecord`,
 * for whoever watches over a fleet. While `challenges` is not 0, nobody sends before `noted_at + wait`.
 */
export const firewallRecordName = (authUrl: string): string => `${ours}firewall:${new URL(authUrl).origin}`

/** The name under which a store keeps how much of the budget for refreshes is taken, at an instance of the service. */
export const refreshBudgetRecordName = (authUrl: string): string => `${ours}refresh-budget:${new URL(authUrl).origin}`

/** Where processes call each other to put back what the store has lost. */
export const rollCallName: string = `${ours}roll-call`

export const keeperRecordName: string = `${ours}keeper`

export const triesRecordName = (step: string, index: number): string => `${ours}tries:${step}:${index}`

export const notesRecordName = (topic: string): string => `${notes}${topic}`

export const refreshTokensRecordName = (index: number): string => `${ours}refresh-tokens:${index}`
