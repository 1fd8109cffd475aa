#!/usr/bin/env node
/**
 * The command `owner-sso`. All but the cache is loaded after the cache is there.
 *
 * Without `FormData`: Node loads all of fetch for who looks at it, as axios does while it is loaded, which is a tenth of a
 * sign-in. Here nobody sends one.
 */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

nameHome()
cacheCompiledCode()
Reflect.deleteProperty(globalThis, 'FormData')
void import('./command-line/run.ts').then(({ run }) => run(process.argv))

/** Where neither HOME nor the list of users has one, each look for it would throw. In this one there is nothing, and nothing can be made. */
function nameHome(): void {
  try {
    homedir()
  } catch {
    process.env['HOME'] = '/dev/null'
  }
}

/**
 * Node's cache of compiled code, where Node has one (22.1): a sign-in then takes an eighth less time. In a folder of this
 * user's: what lies in a shared one, where Node would put it, could be somebody else's code. It never fails: where nothing can be
 * written, nothing is cached.
 */
function cacheCompiledCode(): void {
  const { HOME = '', LOCALAPPDATA = '', XDG_CACHE_HOME = '' } = process.env
  const folder = [XDG_CACHE_HOME, LOCALAPPDATA, HOME && join(HOME, '.cache')].find(isAbsolute)
  // Node 20 has none, and would load this module for nothing.
  if (folder === undefined || process.versions.node.startsWith('20.')) return
  const module: object = process.getBuiltinModule?.('node:module') ?? {}
  if (!('enableCompileCache' in module) || typeof module.enableCompileCache !== 'function') return
  module.enableCompileCache(join(folder, 'owner-sso', 'compiled'))
}
