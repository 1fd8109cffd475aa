/**
 * How much is started at once. Tests wait more than they work, for servers, browsers and child processes of their own; but those
 * work as well. On two cores, one package at a time keeps them busy for a third of the time, and two packages in three processes
 * each have seven times as much to do as the cores can.
 */
import { availableParallelism } from 'node:os'

const cores = availableParallelism()

/** Packages that are tested at the same time: one still has work for all cores while the other is at its end. */
export const packagesAtOnce = 2

/** Processes of Jest for each of them. */
export const processesForEach = cores > 2 ? Math.max(3, Math.floor(cores / 2)) : 2
