/** What `npx @owner-sso/emulator --help` prints. */
import { SCENARIOS } from '../switches/scenarios.ts'
import { OPTION_FLAG_HELP } from './option-flags.ts'
import { SWITCH_FLAG_HELP } from './switch-flags.ts'

const LEFT = 38
const RIGHT = 70

export function helpText(): string {
  const groups = [...new Set(OPTION_FLAG_HELP.map(({ group }) => group))]
  const options = groups.map((group) =>
    section(group, OPTION_FLAG_HELP.filter((flag) => flag.group === group).map(optionLines)),
  )
  const switches = section(
    'Scenarios, faults and accounts',
    SWITCH_FLAG_HELP.map(([flag, about]) => line(flag, about)),
  )
  const scenarios = section(
    'Scenarios',
    Object.entries(SCENARIOS).map(([name, { about }]) => line(name, about)),
  )
  return `npx @owner-sso/emulator: the SSO service and a small owner API, on loopback
npx @owner-sso/recorder: writes a login at a real service down, without a secret, and answers from it

${[...options, switches, scenarios].join('\n')}
Other
${line('--ca-file <file>', 'Write the certificate authority there (PEM)')}
${line('--help, --version', '')}

Most of this can be changed while it runs as well: the README has the control API.

Examples:
  npx @owner-sso/emulator --port 9000 --allow-browsers
  npx @owner-sso/emulator --tls --ca-file ca.pem --mfa-at form-submission
  npx @owner-sso/emulator --scenario rotation-lost --locked plain@example.com
  npx @owner-sso/emulator --once refresh:drop=after-commit --always owner-api:delay=500
`
}

function section(title: string, lines: readonly string[]): string {
  return `${title}\n${lines.join('\n')}\n`
}

function optionLines({ name, placeholder, about, values }: (typeof OPTION_FLAG_HELP)[number]): string {
  const flag = placeholder === undefined ? `--${name}` : `--${name} <${placeholder}>`
  return line(flag, values === undefined ? about : `${about}: ${values}`)
}

/** Two columns, the right one wrapped between words. */
function line(left: string, right: string): string {
  const rows = right.match(new RegExp(`.{1,${RIGHT}}(?= |$)`, 'gu')) ?? ['']
  return rows.map((row, index) => `  ${(index === 0 ? left : '').padEnd(LEFT)} ${row.trimStart()}`.trimEnd()).join('\n')
}
