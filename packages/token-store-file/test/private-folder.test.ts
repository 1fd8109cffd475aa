/** B-D D2, S25–S27, S33: what the store refuses, what it repairs, and the modes of all that it makes. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { systemDisk } from '../src/disk.ts'
import { createStore } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { systemError, watched } from './faulty-disk.ts'
import { account, filesBelow, folderOf, grow, keyOf, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()
const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('Skipped: files of another user need root, to make them (run the tests as root).')
const asRoot = isRoot || process.env['CI'] === 'true' ? describe : describe.skip

/** A store of three versions, and then somebody does something to its folder. */
async function afterwards(
  tamper: (path: string) => void,
): Promise<{ path: string; attempt: () => Promise<unknown[]> }> {
  const path = folders.make()
  await grow(fileTokenStore({ path }), 3)
  tamper(path)
  const store = fileTokenStore({ path })
  return {
    path,
    attempt: async () => {
      const read = await store.read(account).catch((error: unknown) => error)
      const swap = await store.swap(account, 3, sample(4), 'four').catch((error: unknown) => error)
      return [read, swap]
    },
  }
}

const movedAside = (path: string): string => {
  renameSync(path, `${path}-elsewhere`)
  return `${path}-elsewhere`
}

/** Both operations refuse, in the same words, and nothing in or around the folder changes. */
async function refusals(tamper: (path: string) => void): Promise<{ errors: unknown[]; isUntouched: boolean }> {
  const { path, attempt } = await afterwards(tamper)
  const before = filesBelow(dirname(path)).join()
  const errors = await attempt()
  return { errors, isUntouched: filesBelow(dirname(path)).join() === before }
}

const refusal = (words: RegExp): unknown =>
  expect.objectContaining({ code: 'ERR_SSO_STORE', reason: 'permissions', message: expect.stringMatching(words) })

describe('rejects, for reading and writing, with a message that says what to do', () => {
  const cases: [string, (path: string) => void, RegExp][] = [
    ['a folder that its group can write to', (path) => chmodSync(path, 0o720), /chmod go-w/],
    ['a folder that everybody can write to', (path) => chmodSync(path, 0o702), /chmod go-w/],
    ['a folder in one that everybody can write to', (path) => chmodSync(dirname(path), 0o777), /chmod o-w/],
    ['a symbolic link in place of the folder', (path) => symlinkSync(movedAside(path), path), /symbolic link/],
    ['an account folder that others can write to', (path) => chmodSync(folderOf(path), 0o777), /chmod go-w/],
    [
      'a symbolic link in place of an account folder',
      (path) => symlinkSync(movedAside(folderOf(path)), folderOf(path)),
      /symbolic link/,
    ],
    [
      'a folder of temporary files that others can write to',
      (path) => (writeFileSync(join(path, 'tmp', 'x'), ''), chmodSync(join(path, 'tmp'), 0o777)),
      /chmod go-w/,
    ],
    ['a file in place of the folder', (path) => (movedAside(path), writeFileSync(path, '')), /not a folder/],
    [
      'a symbolic link in place of a record',
      (path) => symlinkSync('t.3', join(folderOf(path), 't.4')),
      /symbolic link/,
    ],
    [
      'a hard link of a record elsewhere',
      (path) => linkSync(join(folderOf(path), 't.3'), join(dirname(path), 'elsewhere')),
      /hard link/,
    ],
    ['a FIFO in place of a record', (path) => void execFileSync('mkfifo', [join(folderOf(path), 't.4')]), /ordinary/],
    ['a folder in place of a record', (path) => mkdirSync(join(folderOf(path), 't.4')), /ordinary/],
  ]
  const casesForRoot: [string, (path: string) => void, RegExp][] = [
    ['a folder of another user', (path) => chownSync(path, 4711, 4711), /chown/],
    ['an account folder of another user', (path) => chownSync(folderOf(path), 4711, 4711), /chown/],
    ['a record of another user', (path) => chownSync(join(folderOf(path), 't.3'), 4711, 4711), /belongs to user 4711/],
  ]
  test.each(cases)('%s', async (_name, tamper, words) => {
    expect(await refusals(tamper)).toEqual({ errors: [refusal(words), refusal(words)], isUntouched: true })
  })

  test('such a folder for listing as well', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 1)
    chmodSync(path, 0o777)
    const list = async (): Promise<void> => {
      for await (const name of fileTokenStore({ path }).accounts?.() ?? []) expect(name).toBe('nobody')
    }
    await expect(list()).rejects.toEqual(refusal(/chmod go-w/))
  })

  test('not a folder that others may list: they can’t read the files', async () => {
    const { attempt } = await afterwards((path) => chmodSync(path, 0o755))
    expect(await attempt()).toMatchObject([{ version: 3 }, { version: 4 }])
  })

  asRoot('of another user', () => {
    test.each(casesForRoot)('%s', async (_name, tamper, words) => {
      expect(await refusals(tamper)).toEqual({ errors: [refusal(words), refusal(words)], isUntouched: true })
    })
  })
})

describe('a folder above the store’s', () => {
  /** A store two folders below one of that mode, and one that is reached by a link in it. */
  function below(mode: number, gid?: number): { above: string; paths: string[] } {
    const above = dirname(folders.make())
    mkdirSync(join(above, 'a'), { mode: 0o700 })
    const elsewhere = dirname(folders.make())
    symlinkSync(elsewhere, join(above, 'link'))
    if (gid !== undefined) chownSync(above, -1, gid)
    chmodSync(above, mode)
    return { above, paths: [join(above, 'a', 'b', 'tokens'), join(above, 'link', 'tokens')] }
  }

  test('that everybody can write to is rejected, however far above, and also behind a link', async () => {
    for (const path of below(0o777).paths) {
      await expect(fileTokenStore({ path }).read(account)).rejects.toEqual(refusal(/chmod o-w/))
    }
  })

  test('is accepted where it is sticky, as /tmp is', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue()
    for (const path of below(0o1777).paths) await grow(createStore(systemDisk, { path }), 1)
    expect(warn.mock.calls).toEqual([])
    warn.mockRestore()
  })

  asRoot('of a group', () => {
    /** What is said of a folder that this group can write to. */
    async function said(gid: number, mode = 0o770): Promise<{ above: string; said: unknown[][] }> {
      const warn = jest.spyOn(process, 'emitWarning').mockReturnValue()
      const { above, paths } = below(mode, gid)
      for (const path of paths) await grow(createStore(systemDisk, { path }), 1)
      const calls = warn.mock.calls
      warn.mockRestore()
      return { above, said: calls }
    }

    test('that a group with other members can write to causes a warning, with what to do', async () => {
      // nogroup, which is several users' own on every Debian; and one that nobody has heard of.
      for (const gid of [65_534, 4711]) {
        const { above, said: calls } = await said(gid)
        const words = expect.stringMatching(new RegExp(`group ${gid} can write to ${above}.*chmod g-w`, 'u'))
        const warning = [words, { type: 'SecurityWarning', code: 'OWNER_SSO_SHARED_FOLDER' }]
        expect(calls).toEqual([warning, warning])
      }
    })

    test('that another user owns causes a warning, but not one whose owner a container does not know', async () => {
      for (const [uid, times] of [
        [4711, 2],
        [65_534, 0],
      ] as const) {
        const warn = jest.spyOn(process, 'emitWarning').mockReturnValue()
        const { above, paths } = below(0o755)
        chownSync(above, uid, 0)
        for (const path of paths) await grow(createStore(systemDisk, { path }), 1)
        const words = expect.stringContaining(`User ${uid} owns ${above}, `)
        expect(warn.mock.calls).toEqual(Array.from({ length: times }, () => [words, expect.anything()]))
        warn.mockRestore()
      }
    })

    test('that has no other members, or may only read, causes none', async () => {
      expect((await said(0)).said).toEqual([])
      expect((await said(4711, 0o755)).said).toEqual([])
    })
  })
})

describe('modes', () => {
  test.each([0o644, 0o610, 0o601])('a record of mode %i is made private again', async (mode) => {
    const { path, attempt } = await afterwards((folder) => chmodSync(join(folderOf(folder), 't.3'), mode))
    expect(await attempt()).toMatchObject([{ version: 3 }, { version: 4 }])
    expect(statSync(join(folderOf(path), 't.3')).mode & 0o777).toBe(0o600)
  })

  test('are 0700 and 0600 at every instant, whatever the umask', async () => {
    const path = folders.make()
    const umask = process.umask(0)
    try {
      const store = createStore(
        watched(async (_call, proceed) => {
          const answer = await proceed()
          for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
            // Some are gone by the time that they are looked at.
            const stats = lstatSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })
            const expected = entry.isDirectory() ? 0o700 : 0o600
            expect((stats?.mode ?? expected) & 0o777).toBe(expected)
          }
          return answer
        }),
        { path },
      )
      await grow(store, 6)
      expect(statSync(path).mode & 0o777).toBe(0o700)
    } finally {
      process.umask(umask)
    }
  })

  test('a link that is planted where a temporary file or a version would go is not followed', async () => {
    const path = folders.make()
    const victim = join(dirname(path), 'victim')
    writeFileSync(victim, 'untouched')
    const store = createStore(
      watched((call, proceed) => {
        const [target] = call.arguments.slice(call.name === 'link' ? 1 : 0)
        if (call.name === 'open' && String(target).includes('/tmp/')) symlinkSync(victim, String(target))
        return proceed()
      }),
      { path },
    )
    const error = await store.swap(account, 0, sample(1), 'one').catch((reason: unknown) => reason)
    expect(error).toMatchObject({ reason: 'write-failed' })
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
  })
})

test('a temporary second link that is removed during the check is no hard link of a stranger', async () => {
  const path = folders.make()
  await grow(fileTokenStore({ path }), 1)
  const temporary = join(path, 'tmp', `${keyOf(account)}.1.${process.pid}.0.${'0'.repeat(16)}`)
  linkSync(join(folderOf(path), 't.1'), temporary)
  const disk = watched((call, proceed) => {
    if (call.name === 'lstat' && call.arguments[0] === temporary) rmSync(temporary)
    return proceed()
  })
  expect(await createStore(disk, { path }).read(account)).toMatchObject({ version: 1 })
  expect(existsSync(temporary)).toBe(false)
})

describe('a system without users, as Windows is', () => {
  const { getuid, platform } = process
  const become = (system: string, uid: typeof getuid): void => {
    Object.defineProperty(process, 'platform', { value: system })
    Object.defineProperty(process, 'getuid', { value: uid, configurable: true, writable: true })
  }
  afterEach(() => become(platform, getuid))

  test('has no modes to check', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 3)
    for (const folder of [dirname(path), path]) chmodSync(folder, 0o777)
    chmodSync(join(folderOf(path), 't.3'), 0o644)
    become('win32', undefined)
    expect(await fileTokenStore({ path }).read(account)).toMatchObject({ version: 3 })
    expect(statSync(join(folderOf(path), 't.3')).mode & 0o777).toBe(0o644)
  })

  test('syncs no folders', async () => {
    const disk = watched((call, proceed) => {
      if (call.name === 'open' && statSync(String(call.arguments[0]), { throwIfNoEntry: false })?.isDirectory())
        return Promise.reject(systemError('EPERM', 'open'))
      return proceed()
    })
    await expect(grow(createStore(disk, { path: folders.make() }), 1)).rejects.toMatchObject({
      cause: { code: 'EPERM' },
    })
    const path = folders.make()
    become('win32', undefined)
    await grow(createStore(disk, { path }), 4)
    expect(await createStore(disk, { path }).read(account)).toMatchObject({ version: 4 })
  })
})

test.each([
  ['NFS', 0x6969, true],
  ['SMB', 0x517b, true],
  ['SMB 2', 0xfe534d42, true],
  ['SMB 2, with a sign', 0xfe534d42 | 0, true],
  ['CIFS', 0xff534d42, true],
  ['AFS', 0x5346414f, true],
  ['ext4', 0xef53, false],
])('a folder on %s (%i) works; that it is on a network is told: %s', async (_name, type, isTold) => {
  const warn = jest.spyOn(process, 'emitWarning').mockReturnValue()
  const path = folders.make()
  await grow(createStore({ ...systemDisk, statfs: async () => ({ type }) }, { path }), 2)
  const told = [expect.stringContaining(path), { type: 'SecurityWarning', code: 'OWNER_SSO_NETWORK_FOLDER' }]
  expect(warn.mock.calls).toEqual(isTold ? [told] : [])
  warn.mockRestore()
})

describe('file names', () => {
  test('show nothing of the account, and accounts() finds it all the same', async () => {
    const path = folders.make()
    const store = fileTokenStore({ path })
    await grow(store, 2)
    await grow(store, 1, 'bob@example.com')
    expect(filesBelow(path).join()).not.toMatch(/ann|bob|example/)
    const names: string[] = []
    for await (const name of store.accounts?.() ?? []) names.push(name)
    expect(names.toSorted()).toEqual([account, 'bob@example.com'])
  })

  test('that the store did not give are ignored, and stay', async () => {
    const path = folders.make()
    await grow(fileTokenStore({ path }), 2)
    const folder = folderOf(path)
    const versions = ['t.0', 't.03', 't.', 'xt.4', 't.5.bak', 't.6~', `t.1${'0'.repeat(15)}`]
    const foreign = [...versions.map((name) => join(folder, name)), join(path, 'tmp', `${keyOf(account)}.9.1.1`)]
    for (const name of foreign) writeFileSync(name, 'mine')
    for (const name of [`${folder}.old`, join(path, `x${keyOf(account).slice(0, 2)}`)]) mkdirSync(name)
    const store = fileTokenStore({ path })
    await grow(store, 5)
    const names: string[] = []
    for await (const name of store.accounts?.() ?? []) names.push(name)
    expect([await store.read(account), names]).toMatchObject([{ version: 7, record: sample(7) }, [account]])
    for (const name of foreign) expect(readFileSync(name, 'utf8')).toBe('mine')
  })

  test('a path is required, options by their names, and an account of whole characters', async () => {
    expect(() => fileTokenStore({ path: '' })).toThrow(TypeError)
    expect(() => fileTokenStore('/var/lib/tokens' as never)).toThrow('fileTokenStore takes an object with path')
    expect(() => fileTokenStore({ path: new URL('file:///var/lib/tokens') as never })).toThrow(
      'path must name the folder',
    )
    for (const path of [
      '~',
      '~/tokens',
      '~ann/tokens',
      '$HOME/tokens',
      '${HOME}/tokens',
      String.raw`%USERPROFILE%\tokens`,
    ]) {
      expect(() => fileTokenStore({ path })).toThrow(`path would be a folder named ${path.split(/[/\\]/u)[0]}: `)
    }
    const typo: object = { encryptionkey: new Uint8Array(32) }
    expect(() => fileTokenStore({ path: folders.make(), ...typo })).toThrow('Did you mean encryptionKey?')
    await expect(fileTokenStore({ path: folders.make() }).read('\uD800')).rejects.toThrow(/account must be/)
  })
})
