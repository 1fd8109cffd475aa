/** The declarations of all packages compile: each TypeScript, each way to find modules, with the types of either Express. */
import { run, write } from '../project.mjs'

export const versions = ['5.4', '5.5', '5.6', '5.7', '5.8', '5.9', '6.0', '7.0']

const ours = ['core', 'passport', 'express', 'emulator']
const stores = [
  'token-store-memory',
  'token-store-file',
  'token-store-redis',
  'token-store-sql',
  'token-store-conformance',
]

/** What an application writes. Where a value may be absent, `undefined` may stand, with exactOptionalPropertyTypes too. */
const program = `
import type { Request } from 'express'
import { createSso, createTokenManager, InvalidCredentialsError, SsoError, type SsoOptions } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { OwnerSsoStrategy } from '@owner-sso/passport'
import { ownerApiProxy, ssoErrorHandler } from '@owner-sso/express'
import * as conformance from '@owner-sso/token-store-conformance'
import * as redis from '@owner-sso/token-store-redis'
import * as sql from '@owner-sso/token-store-sql'
import * as emulator from '@owner-sso/emulator'

const unset: string | undefined = process.env['UNSET']
const options: SsoOptions = { authUrl: 'https://auth.example.com', userAgent: unset, proxy: unset }
export const sso = createSso(options)
export const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
export const strategy = new OwnerSsoStrategy({ sso, tokens, identityField: unset })
export const proxy = ownerApiProxy<Request>({ tokens, authorize: (request) => request.ip !== unset, target: unset })
export const others = [conformance, redis, sql, emulator, fileTokenStore, ssoErrorHandler]

export async function signIn(identity: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    const set = await sso.login({ identity, credential: 'x', passcode: unset }, { signal })
    return set.access_token
  } catch (error) {
    if (error instanceof InvalidCredentialsError) return error.code
    if (error instanceof SsoError) return error.step
    throw error
  }
}
`

/** With node16 a CommonJS file has to import an ES module as it always had to. */
const dynamic = `
export async function service(authUrl: string) {
  const { createSso } = await import('@owner-sso/core')
  return createSso({ authUrl })
}
`

/** The ways to find modules, with the file that is compiled in each. `require()` of an ES module is known since 5.8. */
const ways = [
  { way: 'nodenext', module: 'nodenext', file: 'program.mts' },
  { way: 'node16', module: 'node16', file: 'program.mts' },
  { way: 'bundler', module: 'esnext', moduleResolution: 'bundler', file: 'program.mts' },
  { way: 'node16 from CommonJS', module: 'node16', file: 'dynamic.cts' },
  { way: 'nodenext from CommonJS', module: 'nodenext', file: 'program.cts', since: 5.8 },
]

const compiled = [
  ...versions.map((version) => ({ version, express: '5', slice: false })),
  { version: '5.4', express: '4', slice: false },
  { version: '5.9', express: '4', slice: true },
]

/** A project with the types of one Express, and those of `versions` that are compiled with them: each under a name of its own. */
async function projectWith(express, versionsHere, { project }) {
  const packages = [...ours, ...stores].map((name) => `@owner-sso/${name}`)
  const compilers = versionsHere.map((version) => `typescript-${version}@npm:typescript@${version}`)
  const types = [`@types/express@${express}`, '@types/node@20', '@types/passport']
  return project(...packages, ...compilers, ...types, 'passport', 'redis', 'axios', `express@${express}`)
}

export const typescript = {
  title: 'TypeScript',
  prepare: () => new Map(),
  rows: compiled.map(({ version, express, slice }) => ({
    name: `TypeScript ${version}, @types/express ${express}`,
    slice,
    covers: { TypeScript: version, '@types/express': express },
    async run(projects, workshop) {
      const together = compiled.filter((each) => each.express === express && each.slice === slice)
      const key = `${express} ${slice}`
      if (!projects.has(key)) {
        projects.set(
          key,
          projectWith(
            express,
            together.map((each) => each.version),
            workshop,
          ),
        )
      }
      const here = await projects.get(key)
      // One way is enough for npm test: the other rows have all.
      for (const { way, file, since = 0, ...compilerOptions } of slice ? ways.slice(0, 1) : ways) {
        if (Number(version) < since) continue
        write(here, file, file === 'dynamic.cts' ? dynamic : program)
        const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
        const common = { noEmit: true, target: 'es2022', lib: ['es2023'], types: ['node'], skipLibCheck: false }
        const config = { compilerOptions: { ...strict, ...common, ...compilerOptions }, files: [file] }
        write(here, 'tsconfig.json', JSON.stringify(config))
        await run(process.execPath, [`node_modules/typescript-${version}/bin/tsc`], { cwd: here }).catch((error) => {
          throw new Error(`${way}: ${error.message}`)
        })
      }
    },
  })),
}
