export { type InstrumentationOptions, instrumentOwnerSso } from './instrumentation.ts'
