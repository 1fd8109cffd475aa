import preset from '../workspace/jest-preset.js'

export default { ...preset, globalSetup: './test/packed.mjs' }
