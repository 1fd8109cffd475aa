/**
 * `fileTokenStore`: token sets in a folder, shared by all processes of a machine.
 */
import { watch } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  checkOptionNames,
  type Conflict,
  type EncryptionKey,
  StoreError,
  type TokenStore,
  type Versioned,
  withEncryption,
} from '@owner-sso/token-manager'
import { hashOfAccount, whatCame } from '@owner-sso/token-manager/support'
import { codeOf, type Disk, sync, systemDisk, unless } from './disk.ts'
import { accountFolder, type AccountFiles, keyName, shardFolder, shardName, versionFile } from './layout.ts'
import { type FolderState, newestRecord, wholeRecord } from './newest-record.ts'
import { forgetOlder } from './older-versions.ts'
import { openedFolder } from './opened-folder.ts'
import { publish } from './publication.ts'
import { encode, type Envelope } from './record-file.ts'
import { reporting } from './system-failure.ts'

/** Where the files lie, and whether they are sealed. */
export interface FileTokenStoreOptions {
  /** The store's folder; made with mode 0700 where it is missing. Relative to the working directory at this moment. */
  readonly path: string
  /** Seals every record (AES-256-GCM). Without it they are plain JSON in files of mode 0600, and the process warns once. */
  readonly encryptionKey?: EncryptionKey | undefined
}

/**
 * How long a swap tries where others are always faster: at least so many milliseconds, and so many attempts, because
 * on a slow disk one attempt may outlast the time.
 */
const swapLimit = { milliseconds: 2000, attempts: 5 }

/**
 * A store of immutable version files: 0600, in 0700 folders, none ever written over or renamed over.
 *
 * @throws TypeError for a missing path or something that is not a key. Its operations throw `StoreError`: `permissions`,
 *   `read-failed`, `write-failed`, `corrupt`, `wrong-key`, `busy`.
 */
export function fileTokenStore(options: FileTokenStoreOptions): TokenStore {
  checkOptionNames('fileTokenStore', options, { path: true, encryptionKey: true })
  const { path, encryptionKey } = options
  const store = createStore(systemDisk, { path })
  if (encryptionKey === undefined) warnOfPlainText()
  return withEncryption(store, encryptionKey)
}

let warned = false

/** Of a store without an encryption key, once in a process. */
function warnOfPlainText(): void {
  if (warned) return
  warned = true
  const message =
    'Token sets are stored unencrypted, in files that this user and root can read. Give fileTokenStore an encryptionKey to seal them.'
  process.emitWarning(message, { type: 'SecurityWarning', code: 'OWNER_SSO_UNSEALED' })
}

/** The store without encryption, on any disk. */
export function createStore(disk: Disk, { path }: { readonly path: string }): TokenStore {
  if (typeof path !== 'string' || path === '') {
    throw new TypeError(`path must name the folder of the token store${whatCame(path || undefined)}`)
  }
  const [unreplaced] = /^(?:~[^/\\]*|\$\w+|\$\{\w+\}|%\w+%)(?=[/\\]|$)/u.exec(path) ?? []
  if (unreplaced !== undefined) {
    throw new TypeError(
      `path would be a folder named ${unreplaced}: a shell puts a home folder in its place, Node does not. Write join(homedir(), …), or ./${unreplaced}`,
    )
  }
  const root = isAbsolute(path) ? path : resolve(path)
  const folder = openedFolder(disk, root)

  const filesOf = (account: string): AccountFiles => ({ disk, root, key: hashOfAccount(account) })

  const swapOnce = async (
    files: AccountFiles,
    next: Omit<Envelope, 'slot'>,
    expectedWriteId: string | undefined,
  ): Promise<Versioned | Conflict | undefined> => {
    const state = await readState(files)
    const { highestSlot, lowestSlot } = state
    // A caller that has seen this very damage may write over it: some records can be replaced.
    const isMetDamage = state.newest === undefined && expectedWriteId === undefined && next.version - 1 === highestSlot
    const newest = isMetDamage ? undefined : wholeRecord(state, files)
    if (newest?.writeId === next.writeId) {
      // The write may have ended in an error, or its process may have died, before it was on the disk.
      await sync(disk, versionFile(files, newest.slot))
      await sync(disk, accountFolder(files))
      return versioned(newest)
    }
    if ((newest?.version ?? highestSlot) !== next.version - 1) return { conflict: true }
    if (newest?.writeId !== (expectedWriteId ?? newest?.writeId)) return { conflict: true }
    if (highestSlot > (newest?.slot ?? 0)) {
      // A damaged slot is passed over, but not one that is whole at a second look.
      const settled = await newestRecord(files)
      if (settled.highestSlot !== highestSlot || settled.newest?.slot !== newest?.slot) return undefined
    }
    const envelope = { ...next, slot: highestSlot + 1 }
    if (!(await publish(files, envelope.slot, state, encode(envelope)))) return undefined
    if (lowestSlot > 0) await forgetOlder(files, envelope, lowestSlot)
    return { version: next.version, writeId: next.writeId, record: JSON.parse(JSON.stringify(next.record)) }
  }

  return {
    read: async (account) => {
      const files = filesOf(account)
      return reporting('read-failed', root, async () => {
        await folder.open()
        if (!(await folder.hasAccount(files.key))) return undefined
        const newest = wholeRecord(await readState(files), files)
        return newest && versioned(newest)
      })
    },

    swap: async (account, expected, record, writeId, options) => {
      const files = filesOf(account)
      const attempt = async (): Promise<Versioned | Conflict> => {
        await folder.open()
        const flag = options?.forgetOlder === true ? { forgetOlder: true as const } : {}
        const next = { schema: 1 as const, account, version: expected + 1, writeId, ...flag, record }
        const deadline = performance.now() + swapLimit.milliseconds
        for (let attempts = 0; attempts < swapLimit.attempts || performance.now() < deadline; attempts += 1) {
          if (expected === 0) await folder.addAccount(files.key)
          else if (!(await folder.hasAccount(files.key))) return { conflict: true }
          const result = await swapOnce(files, next, options?.expectedWriteId)
          if (result) return result
          await pause(1)
        }
        throw new StoreError('busy', `Another process keeps writing to ${accountFolder(files)}.`)
      }
      return reporting('write-failed', root, async () => {
        try {
          return await attempt()
        } catch (error) {
          // Somebody removed the folder meanwhile: it is made again, once.
          if (codeOf(error) !== 'ENOENT') throw error
          folder.forget()
          return attempt()
        }
      })
    },

    accounts: () => accountNames(disk, root, folder.open),
    watch: (account, onChange) => watchFolder(accountFolder(filesOf(account)), onChange),
  }
}

async function readState(files: AccountFiles): Promise<FolderState> {
  const state = await newestRecord(files)
  await forgetOlder(files, state.newest, state.lowestSlot)
  return state
}

/**
 * Calls back when a version file appears in a folder; never keeps the process alive. A hint only: where the system can't tell,
 * polling is left. Returns an unsubscribe function.
 */
function watchFolder(folder: string, onChange: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === null || name.startsWith('t.')) onChange()
    })
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    return () => undefined
  }
}

const versioned = ({ version, writeId, record }: Envelope): Versioned => ({ version, writeId, record })

/** Records that a listing reads side by side: as many as Node has threads for. */
const together = 4

/** Every account that can be read; then the error of the first that can't, or of the first part of the store. */
async function* accountNames(disk: Disk, root: string, open: () => Promise<void>): AsyncGenerator<string> {
  const list = (path: string): Promise<string[]> =>
    reporting('read-failed', root, async () => (await unless(disk.readdir(path), 'ENOENT', 'ENOTDIR')) ?? [])
  await reporting('read-failed', root, open)
  let failure: unknown
  for (const shard of (await list(root)).filter((name) => shardName.test(name))) {
    const entries = await list(shardFolder(root, shard)).catch((error: unknown) => {
      failure ??= error
      return []
    })
    const keys = entries.filter((name) => keyName.test(name))
    for (let first = 0; first < keys.length; first += together) {
      const looks = keys
        .slice(first, first + together)
        .map((key) => reporting('read-failed', root, () => recordOf({ disk, root, key })))
      for (const look of await Promise.allSettled(looks)) {
        if (look.status === 'rejected') failure ??= look.reason
        else if (look.value) yield look.value.account
      }
    }
  }
  if (failure !== undefined) throw failure
}

async function recordOf(files: AccountFiles): Promise<Envelope | undefined> {
  return wholeRecord(await newestRecord(files), files)
}
