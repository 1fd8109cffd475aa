/**
 * Where things lie in the store's folder. No name in it tells an account.
 *
 *     <path>/3f/3fd54831…/t.7     version files of one account, under a shard of its key's first two digits
 *     <path>/tmp/3fd54831….8.4711.90210.5c1e…   a record on its way to become t.8
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Disk } from './disk.ts'
import { type ProcessName, thisProcess } from './process-name.ts'

/** The files of one account, and what reads and writes them. */
export interface AccountFiles {
  readonly disk: Disk
  readonly root: string
  readonly key: string
}

export const shardName: RegExp = /^[0-9a-f]{2}$/u
export const keyName: RegExp = /^[0-9a-f]{64}$/u

export const shardFolder = (root: string, key: string): string => join(root, key.slice(0, 2))
export const accountFolder = ({ root, key }: Omit<AccountFiles, 'disk'>): string => join(shardFolder(root, key), key)
export const temporaryFolder = (root: string): string => join(root, 'tmp')
export const versionFile = (files: AccountFiles, slot: number): string => join(accountFolder(files), `t.${slot}`)

/** The slots among a folder's names, the highest first. A version lies in a slot; a damaged slot is passed over. */
export function slotsIn(names: readonly string[]): number[] {
  return names
    .flatMap((name) => /^t\.([1-9]\d{0,14})$/u.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => b - a)
}

/** What a temporary file's name tells: whose record it holds, the slot it is meant for, and who writes it. */
export interface TemporaryName {
  readonly name: string
  readonly key: string
  readonly slot: number
  readonly writer: ProcessName
}

export function temporaryName(key: string, slot: number): string {
  const { pid, started } = thisProcess()
  return `${key}.${slot}.${pid}.${started}.${randomBytes(8).toString('hex')}`
}

/** `undefined` for a name that this store didn't give. */
export function parseTemporaryName(name: string): TemporaryName | undefined {
  const [, key, slot, pid, started] =
    /^([0-9a-f]{64})\.(\d{1,15})\.(\d{1,10})\.(\d{1,20})\.[0-9a-f]{16}$/u.exec(name) ?? []
  if (key === undefined || started === undefined) return undefined
  return { name, key, slot: Number(slot), writer: { pid: Number(pid), started } }
}
