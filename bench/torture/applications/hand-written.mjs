/** What an application writes where a candidate has nothing for it: a place for tokens, and one refresh at a time. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A file that is written whole or not at all, which is more than most would do. */
export function oneFile({ path }) {
  const [file, next] = ['tokens.json', 'next.json'].map((name) => join(path, name))
  return {
    load: async () => JSON.parse(await readFile(file, 'utf8').catch(() => '{}')),
    async save(tokens) {
      await writeFile(next, JSON.stringify(tokens))
      await rename(next, file)
    },
  }
}

/** One at a time in a process: nobody's documentation says so, but few would go without. */
export function singleFlight(work) {
  let underWay
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

/** One process that keeps its tokens in memory and in a file. @param refreshed - makes the request, and returns the answer */
export async function openByHand(settings, refreshed, isDue = () => false) {
  const file = oneFile(settings)
  let tokens = await file.load()
  async function keep({ access_token, refresh_token = tokens.refresh_token, expires_in }) {
    tokens = { access_token, refresh_token, expires_at: Date.now() + expires_in * 1000 }
    await file.save(tokens)
  }
  const refresh = singleFlight(async () => keep(await refreshed(tokens.refresh_token)))
  return {
    signIn: keep,
    async getAccessToken() {
      if (isDue(tokens)) await refresh()
      return tokens.access_token
    },
    async refused(accessToken) {
      if (tokens.access_token === accessToken) await refresh()
      return tokens.access_token
    },
  }
}
