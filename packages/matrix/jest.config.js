import preset from '../workspace/jest-preset.js'

export default { ...preset, testTimeout: 180_000 }
