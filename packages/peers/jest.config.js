export { default } from '../workspace/jest-preset.js'
