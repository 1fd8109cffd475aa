/**
 * What `npx @owner-sso/emulator --help` prints.
 */
import { scenarios } from '../switches/scenarios.ts'
import { optionFlagHelp } from './option-flags.ts'
import { switchFlagHelp } from './switch-flags.ts'

const leftWidth = 38
const rightWidth = 70

export function helpText(): string {
  const groups = [...new Set(optionFlagHelp.map(({ group }) => group))]
  const options = groups.map((group) =>
    section(group, optionFlagHelp.filter((flag) => flag.group === group).map(optionLines)),
  )
  const switches = section(
    'Scenarios and faults',
    switchFlagHelp.map(([flag, about]) => line(flag, about)),
  )
  const scenarioLines = section(
    'Scenarios',
    Object.entries(scenarios).map(([name, { about }]) => line(name, about)),
  )
  return `npx @owner-sso/emulator: the SSO service and a small owner API, on loopback
npx @owner-sso/emulator record: writes a login at a real service down, without a secret (record --help)
npx @owner-sso/emulator replay: answers from a recorded login (replay --help)

${[...options, switches, scenarioLines].join('\n')}
Other
${line('--ca-file <file>', 'Write the certificate authority there (PEM)')}
${line('--client-secret-file <file>', 'Write the secret of the registered application there (--service registered)')}
${line('--help, --version', '')}

Most of this can be changed while it runs as well: the README has the control API.

Examples:
  npx @owner-sso/emulator --port 9000 --allow-browsers
  npx @owner-sso/emulator --tls --ca-file ca.pem --mfa-at form-submission
  npx @owner-sso/emulator --scenario rotation-lost --scenario mfa-at-form
  npx @owner-sso/emulator --once refresh:drop=after-commit --always owner-api:delay=500
`
}

function section(title: string, lines: readonly string[]): string {
  return `${title}\n${lines.join('\n')}\n`
}

function optionLines({ name, placeholder, about, values }: (typeof optionFlagHelp)[number]): string {
  const flag = placeholder === undefined ? `--${name}` : `--${name} <${placeholder}>`
  return line(flag, values === undefined ? about : `${about}: ${values}`)
}

/** Two columns, the right one wrapped between words. */
function line(left: string, right: string): string {
  const rows = right.match(new RegExp(`.{1,${rightWidth}}(?= |$)`, 'gu')) ?? ['']
  return rows
    .map((row, index) => `  ${(index === 0 ? left : '').padEnd(leftWidth)} ${row.trimStart()}`.trimEnd())
    .join('\n')
}
