import { expect, it } from '@jest/globals'
import { startEmulator, type Emulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'

const emulator = useEmulator()

interface Description {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { requestBody?: { content: object } }>>>>
}

async function describedBy({ authUrl }: Emulator): Promise<Description> {
  const answer = await fetch(`${authUrl}/_emulator/openapi.json`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  return JSON.parse(await answer.text())
}

it('describes the six endpoints of the document and the backup codes beside them, at both instances', async () => {
  const { openapi, servers, paths } = await describedBy(emulator)
  expect(openapi).toBe('3.1.1')
  expect(servers.map(({ url }) => url)).toEqual([emulator.authUrl, emulator.regionalAuthUrl])
  const operations = Object.entries(paths).flatMap(([path, item]) => Object.keys(item).map((name) => `${name} ${path}`))
  expect(operations).toEqual([
    'get /oauth2/v3/authorize',
    'post /oauth2/v3/authorize',
    'post /oauth2/v3/token',
    'get /oauth2/v3/authorize/mfa/factors',
    'post /oauth2/v3/authorize/mfa/verify',
    'post /oauth2/v3/authorize/mfa/backupcodes/attempt',
  ])
})

it('follows what is switched at run time', async () => {
  const mediaTypes = async (): Promise<string[]> => {
    const { paths } = await describedBy(emulator)
    return Object.keys(paths['/oauth2/v3/token']?.['post']?.requestBody?.content ?? {})
  }
  expect(await mediaTypes()).toEqual(['application/json'])
  emulator.change({ strictness: 'lenient' })
  expect(await mediaTypes()).toEqual(['application/json', 'application/x-www-form-urlencoded'])
})

it('goes with the inspector, and is nothing that the log has', async () => {
  await describedBy(emulator)
  expect(emulator.requests).toEqual([])
  await using closed = await startEmulator({ inspector: false })
  expect((await fetch(`${closed.authUrl}/_emulator/openapi.json`)).status).toBe(404)
})

it.each(['document', 'lenient'] as const)(
  'takes what has a pattern or a length for a text alone (%s)',
  async (strictness) => {
    emulator.change({ strictness })
    const schemas: Record<string, unknown>[] = []
    JSON.stringify(await describedBy(emulator), (_key, value: unknown) => {
      const isSchema = typeof value === 'object' && value !== null && ('pattern' in value || 'minLength' in value)
      if (isSchema) schemas.push({ ...value })
      return value
    })
    expect(schemas.length).toBeGreaterThan(0)
    expect(schemas.filter(({ type, const: only }) => type !== 'string' && typeof only !== 'string')).toEqual([])
  },
)
