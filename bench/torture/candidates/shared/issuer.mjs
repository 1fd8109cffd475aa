/** The token issuer of our candidates, written by hand as the token manager's README asks. */
import {
  ReauthenticationRequiredError,
  TokenRejectedError,
  UnreachableError,
  withTimeLimit,
} from '@owner-sso/token-manager'

const step = 'refresh'

/** @param tokenUrl - of the service's token endpoint */
export const issuerOf = (tokenUrl) => ({
  authUrl: new URL('/', tokenUrl).href,
  async refresh({ refresh_token, auth_url }, { timeout = 30_000, beforeSend } = {}) {
    const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'torture', refresh_token })
    beforeSend?.()
    // `AbortSignal.timeout` would end a request whose answer came while the process was stopped.
    const { status, answer } = await withTimeLimit(timeout, async (signal) => {
      const response = await fetch(tokenUrl, { method: 'POST', body, redirect: 'manual', signal })
      return { status: response.status, answer: await response.json() }
    }).catch((error) => {
      if (error.cause?.code !== 'ECONNREFUSED') throw error // in doubt
      throw new UnreachableError('The service can’t be reached.', { step, requestSent: false })
    })
    if (status === 200) {
      const expires_at = Math.floor(Date.now() / 1000) + answer.expires_in
      return { ...answer, refresh_token: answer.refresh_token ?? refresh_token, expires_at, auth_url }
    }
    if (answer.error === 'invalid_grant') throw new ReauthenticationRequiredError('refresh_token_rejected', { step })
    if (status === 400 || status === 401) throw new TokenRejectedError(answer.error, { step, status })
    throw new Error(`The service answered ${status}`) // in doubt
  },
})
