/**
 * A disk in memory that can lose power: what was not synced may be lost, in part and in any order.
 *
 * A file's content is safe once the file was synced; a name in a folder once the folder was. Until then every single
 * change may have reached the disk or not, whatever came before or after it.
 */
import { Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Disk } from '../src/disk.ts'
import { systemError } from './faulty-disk.ts'

interface File {
  readonly kind: 'file'
  content: Buffer
  synced: Buffer
}

interface Folder {
  readonly kind: 'folder'
  readonly names: Map<string, Node>
  /** What is safe. */
  readonly synced: Map<string, Node>
  /** Made or removed since. */
  changes: { readonly name: string; readonly node: Node | undefined }[]
}

type Node = File | Folder

export interface VolatileDisk extends Disk {
  /** The disk as it may be found after the power went at this moment. */
  readonly afterPowerLoss: (random: () => number) => VolatileDisk
}

const newFolder = (names: Map<string, Node> = new Map()): Folder => ({
  kind: 'folder',
  names,
  synced: new Map(names),
  changes: [],
})

/** @param root - a folder that exists, safely, from the beginning */
export function volatileDisk(root: string, tree: Folder = newFolder()): VolatileDisk {
  const open = new Map<number, Node>()
  let lastFd = 100

  const find = (path: string, syscall: string): Node => {
    // All above it is there as well.
    if (path === root || root.startsWith(path === '/' ? path : `${path}/`)) return tree
    const parts = path.slice(root.length + 1).split('/')
    let node: Node | undefined = tree
    for (const part of parts) node = node?.kind === 'folder' ? node.names.get(part) : undefined
    if (!node) throw systemError('ENOENT', syscall)
    return node
  }
  const folderOf = (path: string, syscall: string): Folder => {
    const folder = find(dirname(path), syscall)
    if (folder.kind === 'folder') return folder
    throw systemError('ENOTDIR', syscall)
  }
  const change = (path: string, node: Node | undefined, syscall: string): void => {
    const folder = folderOf(path, syscall)
    if (node && folder.names.has(basename(path))) throw systemError('EEXIST', syscall)
    if (!node && !folder.names.has(basename(path))) throw systemError('ENOENT', syscall)
    if (node) folder.names.set(basename(path), node)
    else folder.names.delete(basename(path))
    folder.changes.push({ name: basename(path), node })
  }
  const file = (fd: number): File => {
    const node = open.get(fd)
    if (node?.kind === 'file') return node
    throw systemError('EBADF', 'fd')
  }

  return {
    open: async (path, _flags, mode) => {
      if (mode !== undefined) change(path, { kind: 'file', content: Buffer.alloc(0), synced: Buffer.alloc(0) }, 'open')
      open.set((lastFd += 1), find(path, 'open'))
      return lastFd
    },
    read: async (fd, buffer, offset) => file(fd).content.copy(buffer, offset, offset),
    write: async (fd, buffer, offset) => {
      const node = file(fd)
      node.content = Buffer.concat([node.content, buffer.subarray(offset)])
      return buffer.byteLength - offset
    },
    fsync: async (fd) => {
      const node = open.get(fd)
      if (node?.kind === 'file') node.synced = node.content
      if (node?.kind !== 'folder') return
      node.synced.clear()
      for (const [each, child] of node.names) node.synced.set(each, child)
      node.changes = []
    },
    close: async (fd) => void open.delete(fd),
    fstat: async (fd) => stats(open.get(fd) ?? tree),
    fchmod: async () => undefined,
    lstat: async (path) => stats(find(path, 'lstat')),
    mkdir: async (path) => change(path, newFolder(), 'mkdir'),
    readdir: async (path) => {
      const folder = find(path, 'readdir')
      return folder.kind === 'folder' ? [...folder.names.keys()] : []
    },
    link: async (existing, path) => change(path, find(existing, 'link'), 'link'),
    realpath: async (path) => path,
    statfs: async () => ({ type: 0 }),
    unlink: async (path) => change(path, undefined, 'unlink'),
    afterPowerLoss: (random) => volatileDisk(root, survivors(tree, random)),
  }
}

/** What is found of a folder: the safe names, and any of the changes since. */
function survivors(folder: Folder, random: () => number): Folder {
  const names = new Map(folder.synced)
  for (const { name, node } of folder.changes) {
    if (random() < 0.5) continue
    if (node) names.set(name, node)
    else names.delete(name)
  }
  const copied = [...names].map(([name, node]): [string, Node] => {
    if (node.kind === 'folder') return [name, survivors(node, random)]
    const content = tornContent(node, random)
    return [name, { kind: 'file', content, synced: content }]
  })
  return newFolder(new Map(copied))
}

/** Content that was not synced is there, is missing, is cut off, or is a hole of zeros. */
function tornContent({ content, synced }: File, random: () => number): Buffer {
  const chance = random()
  if (chance < 0.25) return content
  if (chance < 0.5) return synced
  const end = synced.length + Math.floor(random() * (content.length - synced.length + 1))
  if (chance < 0.75) return content.subarray(0, end)
  return Buffer.concat([content.subarray(0, end), Buffer.alloc(content.length - end)])
}

function stats(node: Node): Stats {
  const isFile = node.kind === 'file'
  return Object.assign<Stats, Partial<Stats>>(Object.create(Stats.prototype), {
    mode: isFile ? 0o100600 : 0o40700,
    uid: process.getuid?.() ?? 0,
    nlink: 1,
    ino: 1,
    size: isFile ? node.content.length : 0,
  })
}
