/**
 * How much is started at once. Tests wait more than they work, for servers, browsers and child processes of their own; but those
 * work as well, several for each test, and on two slow cores they were seven times as much as the cores could do.
 */
import { availableParallelism } from 'node:os'

const cores = availableParallelism()
const areFew = cores <= 2

/** Packages that are tested at the same time: of two, one still has work for all cores while the other is at its end. */
export const packagesAtOnce = areFew ? 1 : 2

/** Processes of Jest for each of them. */
export const processesForEach = areFew ? 2 : Math.max(3, Math.floor(cores / 2))
