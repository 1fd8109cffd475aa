import preset from '../../tools/launcher/jest-preset.js'

export default { ...preset, globalSetup: './test/packed.mjs' }
