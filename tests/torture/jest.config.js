export { default } from '../../tools/launcher/jest-preset.js'
