/**
 * The steps of a login as they happen, for a person who watches: core tells them on its channel `owner-sso:step`.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import type { LoginStep, StepTrace } from '@owner-sso/core'

const channel = tracingChannel<unknown, StepTrace>('owner-sso:step')

/** What each step is called. */
export type StepNames = Readonly<Record<LoginStep, string>>

const names: StepNames = {
  'login-page': 'Opening the login page',
  'form-submission': 'Sending the login form',
  'code-exchange': 'Exchanging the code for tokens',
  'mfa-factors': 'Asking for the second factors',
  'mfa-verify': 'Verifying the passcode',
}

/**
 * Calls `show` with the name of each step until `login` has ended.
 *
 * @param otherNames - of steps that are called otherwise in this login
 */
export async function withProgress<Result>(
  show: (step: string) => void,
  login: () => Promise<Result>,
  otherNames: Partial<StepNames> = {},
): Promise<Result> {
  const called: StepNames = { ...names, ...otherNames }
  const subscriber = {
    start: ({ step }: StepTrace): void => show(called[step]),
    end: unheeded,
    asyncStart: unheeded,
    asyncEnd: unheeded,
    error: unheeded,
  }
  channel.subscribe(subscriber)
  try {
    return await login()
  } finally {
    channel.unsubscribe(subscriber)
  }
}

function unheeded(): void {
  // How a step ended, the login itself says.
}
