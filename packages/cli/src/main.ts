#!/usr/bin/env node
/**
 * The command `owner-sso`. All but the cache is loaded after the cache is there.
 */
import { cacheCompiledCode } from './compile-cache.ts'

cacheCompiledCode()
void import('./run.ts').then(({ run }) => run(process.argv))
