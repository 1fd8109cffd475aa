/**
 * The inspector's page and its two files, as the build left them, under a policy that lets it load nothing else.
 */
import { readFileSync } from 'node:fs'
import type { ServiceResponse } from '../http/service-response.ts'

/** Beside the built code; from the sources, too. */
const folder = new URL('../../dist/inspector/page/', import.meta.url)
const types: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'inspector.js': 'text/javascript; charset=utf-8',
  'inspector.css': 'text/css; charset=utf-8',
}
const policy = [
  ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"],
  ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"],
].flat()
const headers = { 'content-security-policy': policy.join('; '), 'cross-origin-opener-policy': 'same-origin' }

/** Undefined for a file that the page doesn't have. */
export function pageFile(name: string): ServiceResponse | undefined {
  const type = Object.hasOwn(types, name) ? types[name] : undefined
  if (type === undefined) return undefined
  return {
    status: 200,
    headers: { ...headers, 'content-type': type },
    body: readFileSync(new URL(name, folder), 'utf8'),
  }
}
