/** The README's quick starts on every Node that `engines` name, as ES modules and with `require`. */
import { write } from '../project.mjs'
import { asCommonJs, quickStarts } from '../recipes.mjs'
import { printsVehicles, signsPeopleIn } from '../sign-in.mjs'

/** The oldest of each line that is supported, and its newest. */
export const versions = ['20.19.0', '20', '22.12.0', '22', '24', '26']

const judge = { core: printsVehicles, passport: signsPeopleIn }

export const nodes = {
  title: 'Node.js',
  async prepare({ project }) {
    const ours = ['@owner-sso/core', '@owner-sso/passport', '@owner-sso/token-store-memory']
    const here = await project(...ours, 'passport', 'express', 'express-session')
    for (const [name, program] of Object.entries(quickStarts)) {
      write(here, `${name}.mjs`, program)
      write(here, `${name}.cjs`, asCommonJs(program))
    }
    return here
  },
  rows: versions.flatMap((version) =>
    Object.keys(quickStarts).flatMap((name) =>
      ['mjs', 'cjs'].map((extension) => ({
        name: `${version}: ${name}, ${extension === 'mjs' ? 'import' : 'require()'}`,
        covers: { 'Node.js': version },
        async run(here, { node }) {
          await judge[name](await node(version), [`${name}.${extension}`], { cwd: here })
        },
      })),
    ),
  ),
}
