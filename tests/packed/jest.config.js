import preset from '../../tools/launcher/jest-preset.js'

export default {
  ...preset,
  globalSetup: './test/empty-project.mjs',
  globalTeardown: './test/remove-empty-project.mjs',
}
