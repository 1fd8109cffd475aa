/**
 * The recipe of next-auth (Auth.js) for refresh token rotation, in its form for a database: the callback `session` reads the account's row, and
 * refreshes where `expires_at` is over. This is our own code of the shape that the page describes, over PostgreSQL; there is no package that does it.
 */
export const about = {
  name: 'next-auth’s recipe',
  packages: ['pg'],
  documentation: 'https://authjs.dev/guides/refresh-token-rotation',
  store: 'postgres',
  worst: 'eight processes at one expiry',
  because: 'whoever finds the row expired refreshes it, and nothing keeps eight processes from doing so at once.',
}

export async function open({ settings, service }) {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: settings.url })
  pool.on('error', () => {})
  const update = ({ access_token, refresh_token, expires_in }) =>
    pool.query(
      `INSERT INTO accounts VALUES ('owner', $1, $2, $3) ON CONFLICT (id) DO UPDATE
        SET access_token = $1, refresh_token = coalesce($2, accounts.refresh_token), expires_at = $3`,
      [access_token, refresh_token, Math.floor(Date.now() / 1000 + expires_in)],
    )

  async function refreshed({ refresh_token }) {
    const body = new URLSearchParams({ client_id: 'torture', grant_type: 'refresh_token', refresh_token })
    const response = await fetch(service.tokenUrl, { method: 'POST', body })
    const answer = await response.json()
    if (!response.ok) throw Object.assign(new Error('RefreshTokenError'), { code: answer.error })
    await update(answer)
    return answer.access_token
  }
  return {
    async signIn(answer) {
      await pool.query(
        'CREATE TABLE accounts (id text PRIMARY KEY, access_token text, refresh_token text, expires_at bigint)',
      )
      await update(answer)
    },
    async getAccessToken() {
      const [account] = (await pool.query(`SELECT * FROM accounts WHERE id = 'owner'`)).rows
      if (account.expires_at * 1000 >= Date.now()) return account.access_token
      return refreshed(account)
    },
  }
}
