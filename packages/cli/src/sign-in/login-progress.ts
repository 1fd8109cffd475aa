/**
 * The steps of a login as they happen, for a person who watches: core tells them on its channel `owner-sso:step`.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import type { LoginStep, StepTrace } from '@owner-sso/core'

const { start: steps } = tracingChannel('owner-sso:step')

/** What each step is called. */
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
