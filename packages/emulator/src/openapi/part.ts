/**
 * A part of the description, and what it depends on.
 */
import type { ServiceState } from '../service/service-state.ts'

/** JSON. */
export type Part = Readonly<Record<string, unknown>>

/** The description follows the settings of the moment it is asked for. */
export type Described = Pick<ServiceState, 'instances' | 'redirectUris' | 'settings'>

/** `#/components/…` by kind and name. */
export function ref(kind: 'headers' | 'parameters' | 'schemas', name: string): Part {
  return { $ref: `#/components/${kind}/${name}` }
}
