import preset from '../../tools/launcher/jest-preset.js'

export default { ...preset, globalSetup: '<rootDir>/test/programs.mjs' }
