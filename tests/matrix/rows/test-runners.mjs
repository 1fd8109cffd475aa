/** A test that signs in at the emulator, in the test runners that people use. */
import { write } from '../project.mjs'
import { recipe } from '../recipes.mjs'
import { succeeds } from '../sign-in.mjs'

const ours = ['@owner-sso/core', '@owner-sso/emulator']

const runners = [
  {
    name: 'node:test',
    packages: [],
    files: { 'sign-in.test.mjs': 'node-test' },
    args: ['--test'],
    versions: ['20.19.0', '22.12.0', '24', '26'],
  },
  {
    name: 'Vitest 4',
    packages: ['vitest@4'],
    files: { 'sign-in.test.mjs': 'vitest' },
    args: ['node_modules/vitest/vitest.mjs', 'run'],
    versions: ['20.19.0', '22.12.0', '24', '26'],
  },
  {
    name: 'Vitest 5',
    packages: ['vitest@5'],
    files: { 'sign-in.test.mjs': 'vitest' },
    args: ['node_modules/vitest/vitest.mjs', 'run'],
    versions: ['22.12.0', '24', '26'],
  },
  {
    name: 'Jest (ES modules)',
    packages: ['jest'],
    files: { 'sign-in.test.mjs': 'jest', 'jest.config.mjs': 'jest-config' },
    args: ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'],
    versions: ['20.19.0', '22.12.0', '24', '26'],
    slice: '20.19.0',
  },
  {
    name: 'Jest (CommonJS)',
    packages: ['jest', '@swc/core', '@swc/jest'],
    manifest: '{ "private": true }',
    files: { 'sign-in.test.js': 'jest-cjs', 'jest.config.js': 'jest-cjs-config' },
    args: ['node_modules/jest/bin/jest.js'],
    versions: ['20.19.0', '22.12.0', '24', '26'],
  },
]

export const testRunners = {
  title: 'Test runners',
  prepare: () => new Map(),
  rows: runners.flatMap(({ name, packages, manifest, files, args, versions, slice }) =>
    versions.map((version) => ({
      name: `${name}, Node ${version}`,
      slice: slice === version,
      covers: { 'Test runners': name },
      async run(projects, { project, node }) {
        if (!projects.has(name)) {
          const here = await project(...ours, ...packages)
          if (manifest) write(here, 'package.json', manifest)
          for (const [file, part] of Object.entries(files)) write(here, file, recipe(part))
          projects.set(name, here)
        }
        await succeeds(await node(version), args, { cwd: projects.get(name) })
      },
    })),
  ),
}
