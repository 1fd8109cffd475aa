export { default } from '../../packages/workspace/jest-preset.js'
