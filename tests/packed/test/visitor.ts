/** A browser, as far as the documents' servers need one: keeps their cookies, posts forms, follows no redirect. */
export interface Visitor {
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Response>
  readonly post: (path: string, fields?: Record<string, string>, headers?: Record<string, string>) => Promise<Response>
}

export function visitorOf(origin: string): Visitor {
  const cookies = new Map<string, string>()
  async function send(path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(origin + path, { ...init, redirect: 'manual', headers: { ...headers, cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  return {
    get: (path, headers = {}) => send(path, headers),
    post: (path, fields = {}, headers = {}) =>
      send(path, headers, { method: 'POST', body: new URLSearchParams(fields) }),
  }
}
