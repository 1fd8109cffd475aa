/**
 * How a login speaks: step by step in a terminal, else only in its last sentence. Core tells the steps on its channel `owner-sso:step`.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { type LoginStep, type StepTrace, visible } from '@owner-sso/core'
import { printNote } from '../terminal/output.ts'

export interface LoginVoice {
  readonly begin: (title: string) => void
  readonly step: (text: string) => void
  /** What went wrong, where the person can put it right at once. */
  readonly problem: (text: string) => void
  readonly tell: (...lines: readonly string[]) => void
  /** What is waited for: shown in a terminal only, in the place of what it showed before; an empty text removes it. */
  readonly wait: (text: string) => void
  readonly end: (text: string) => void
}

export async function loginVoice(): Promise<LoginVoice> {
  if (!process.stderr.isTTY)
    return { begin: quiet, step: quiet, problem: printNote, tell: printNote, wait: quiet, end: printNote }
  const { intro, log, outro } = await import('@clack/prompts')
  const output = process.stderr
  return {
    begin: (title) => intro(visible(title), { output }),
    step: (text) => log.step(visible(text), { output, spacing: 0 }),
    problem: (text) => log.warn(visible(text), { output }),
    tell: (...lines) => log.message(lines.map(visible), { output }),
    wait: (text) => void output.write(text === '' ? lineStart : `${lineStart}│  ${visible(text)}`),
    end: (text) => outro(visible(text), { output }),
  }
}

/** Back to the start of the line, and nothing left on it. */
const lineStart = '\r\u001B[2K'

function quiet(): void {}

const { start: steps } = tracingChannel('owner-sso:step')

const names: Readonly<Record<LoginStep, string>> = {
  'login-page': 'Opening the login page',
  'form-submission': 'Sending the login form',
  'code-exchange': 'Exchanging the code for tokens',
  'mfa-factors': 'Asking for the second factors',
  'mfa-verify': 'Verifying the code',
}

/** Calls `show` with the name of each step until `login` has ended. */
export async function withProgress<Result>(
  show: (step: string) => void,
  login: () => Promise<Result>,
): Promise<Result> {
  const onStep = (trace: unknown): void => {
    if (isStepTrace(trace)) show(names[trace.step])
  }
  steps.subscribe(onStep)
  try {
    return await login()
  } finally {
    steps.unsubscribe(onStep)
  }
}

function isStepTrace(trace: unknown): trace is StepTrace {
  return typeof trace === 'object' && trace !== null && 'step' in trace
}
