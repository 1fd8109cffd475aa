/** `owner-sso emulator`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const emulator = command({
  name: 'emulator',
  args: '[options...]',
  summary: 'run the service on this machine, to try things out',
  description: '',
  options: {},
  passesOptionsOn: true,
  examples: [],
})
