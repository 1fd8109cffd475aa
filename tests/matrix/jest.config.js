import preset from '../../tools/launcher/jest-preset.js'

export default { ...preset, testTimeout: 180_000 }
