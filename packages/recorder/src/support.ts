/**
 * What the emulator shares with the recorder beneath its public names. Not for applications: it may change with any release.
 */
export { encodeText } from './fixture/placeholders.ts'
export { checkNames } from './known-names.ts'
export {
  addressesOf,
  answerBadRequests,
  banner,
  httpListener,
  listenOnHost,
  serverLimits,
  type AddressListener,
  type Listener,
} from './listener.ts'
