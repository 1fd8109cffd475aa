/**
 * What the developer is told of a form that brings nothing usable, once of each kind: to the person it looks as if they had
 * entered nothing. Names of fields, never their values.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { FieldNames } from './request-fields.ts'

/** Looks at a request without e-mail and password. */
export type FormAdvisor = (request: { readonly headers?: IncomingHttpHeaders; readonly body?: unknown }) => void

export function formAdvisor(names: FieldNames): FormAdvisor {
  const told = new Set<string>()
  function tell(kind: string, message: string): void {
    if (told.has(kind)) return
    told.add(kind)
    process.emitWarning(message, { type: 'OwnerSsoWarning', code: 'OWNER_SSO_FORM' })
  }
  return ({ headers = {}, body }) => {
    const fields = typeof body === 'object' && body !== null ? Object.entries(body) : []
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
    if (fields.length === 0) {
      if (hasBody)
        tell(
          'empty',
          'owner-sso: req.body is empty: express.urlencoded() or express.json() has to come before the strategy',
        )
      return
    }
    const options = (['identity', 'credential'] as const)
      .filter((field) => !fields.some(([name]) => name === names[field]))
      .map((field) => `${field}Field`)
    if (options.length > 0)
      tell(
        'names',
        `owner-sso: fields received: ${shown(fields)}; set ${options.join(' and ')} to their names, or rename them`,
      )
  }
}

/** A name without a value may be what somebody typed; so may one that is no name. */
function shown(fields: readonly (readonly [name: string, value: unknown])[]): string {
  const names = fields.map(([name, value]) => (value !== '' && /^[a-z_][\w.[\]-]{0,39}$/iu.test(name) ? name : '…'))
  return names.length > 12 ? `${names.slice(0, 12).join(', ')}, …` : names.join(', ')
}
