#!/usr/bin/env node
/**
 * The command `owner-sso`. All but the cache is loaded after the cache is there.
 *
 * Without `FormData`: Node loads all of fetch for who looks at it, as axios does while it is loaded, which is a tenth of a
 * sign-in. Here nobody sends one.
 */
import { homedir } from 'node:os'
import { cacheCompiledCode } from './command-line/compile-cache.ts'

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
