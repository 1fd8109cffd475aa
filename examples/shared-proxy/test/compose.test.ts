/** What Docker would run, as far as it can be read: no engine is needed here. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { settingsFrom } from '../src/settings.ts'

const textOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

interface Service {
  readonly image?: string
  readonly command?: string
  readonly deploy?: { readonly replicas: number }
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly stop_grace_period?: string
}

const compose: { services: Record<'front' | 'gateway' | 'redis', Service>; volumes: object } = parse(
  textOf('compose.yaml'),
)
const { front, gateway, redis } = compose.services

/** Settings of an instance, with the variables that the operator sets. */
function settings(): ReturnType<typeof settingsFrom> {
  const given: Record<string, string> = {
    OWNER_SSO_AUTH_URL: 'https://auth.example.com',
    OWNER_SSO_API_URL: 'https://api.example.com',
  }
  const [, inImage = ''] = /^ENV NODE_ENV=production (HOST=\S+)$/mu.exec(textOf('Dockerfile')) ?? []
  const environment = Object.entries(gateway.environment ?? {}).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+):[^}]*\}/gu, (_, variable: string) => given[variable] ?? ''),
  ])
  return settingsFrom({ ...Object.fromEntries([inImage.split('=')]), ...Object.fromEntries(environment) })
}

describe('the compose file', () => {
  it('gives two instances every setting that they need', () => {
    expect(gateway.deploy?.replicas).toBe(2)
    const { storeUrl, host } = settings()
    expect(Object.keys(compose.services)).toContain(new URL(storeUrl).hostname)
    expect(host).toBe('0.0.0.0')
  })

  it('keeps what Redis did not take on a volume that belongs to the user of the instances', () => {
    const [volume, folder = ''] = gateway.volumes?.find((each) => each.startsWith('spool:'))?.split(':') ?? []
    expect(compose.volumes).toHaveProperty(String(volume))
    expect(settings().spool).toBe(`${folder}/spool`)
    expect(textOf('Dockerfile')).toMatch(
      new RegExp(`^RUN install -d -o node -g node -m 700 ${folder}\nUSER node$`, 'mu'),
    )
  })

  it('leaves them time for the calls and for a refresh under way', () => {
    expect(Number.parseInt(gateway.stop_grace_period ?? '', 10)).toBeGreaterThan(settings().graceSeconds + 45)
  })

  it('keeps what Redis holds, and shows it to the instances alone', () => {
    expect(redis.command).toContain('--appendonly yes')
    expect(redis.command).toContain('--maxmemory-policy noeviction')
    expect(redis.volumes).toEqual(['tokens:/data'])
    expect(redis.ports).toBeUndefined()
    expect(front.networks.filter((network) => redis.networks.includes(network))).toEqual([])
  })

  it('leads from the one address to the port of the instances', () => {
    const nginx = textOf('nginx.conf')
    expect(nginx).toContain(`server gateway:${settings().port};`)
    expect(front.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+:8080$/u)])
    expect(nginx).toContain('listen 8080;')
  })
})
