/**
 * A login at the real service, written down without a secret, and answered again from what was written.
 */
export { startRecorder, type Recorder, type RecorderOptions } from './recorder/recorder.ts'
export type { UpstreamTransport } from './recorder/upstream-tls.ts'
export { startReplay, type Replay, type ReplayOptions } from './replay/replay.ts'
export {
  FixtureError,
  type Fixture,
  type Parameters,
  type RecordedAnswer,
  type RecordedBody,
  type RecordedExchange,
  type RecordedRequest,
} from './fixture/fixture.ts'
export type { Json } from './masking/field-masks.ts'
export type { Shape } from './masking/pseudonyms.ts'
export { plainFields, type PlainFields } from './masking/plain-fields.ts'
