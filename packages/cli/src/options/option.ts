/**
 * Options as a command declares them, by their names in camelCase: `totpSecretFile` is `--totp-secret-file`.
 */

/** What commander makes of an option of each kind. */
interface Given {
  readonly flag: boolean
  /** `--no-…`: false where it was given. */
  readonly off: boolean
  readonly value: string
  readonly values: readonly string[]
}

export interface Option<Kind extends keyof Given = keyof Given> {
  readonly kind: Kind
  /** What stands for its value in the help, such as `<path>`. */
  readonly placeholder?: string
  readonly help: string
}

export type OptionTable = Readonly<Record<string, Option>>

export type OptionsOf<Table extends OptionTable> = { readonly [Name in keyof Table]?: Given[Table[Name]['kind']] }

export const flag = (help: string): Option<'flag'> => ({ kind: 'flag', help })
export const off = (help: string): Option<'off'> => ({ kind: 'off', help })
export const value = (placeholder: string, help: string): Option<'value'> => ({ kind: 'value', placeholder, help })
export const values = (placeholder: string, help: string): Option<'values'> => ({ kind: 'values', placeholder, help })

/** As it is typed: `--totp-secret-file`, `--no-keyring`. */
export function dashed(name: string, { kind }: Pick<Option, 'kind'> = { kind: 'value' }): string {
  return `--${kind === 'off' ? 'no-' : ''}${name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`
}
