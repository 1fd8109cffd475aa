/**
 * One read for many callers, that none of them gets from before its own call: what was changed before somebody asked, they
 * are told. Whoever asks while a read is under way waits for the one after it, together with all others who do.
 */
export function fresh<Value>(read: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const current = new Map<string, Promise<unknown>>()
  const next = new Map<string, Promise<Value>>()

  const begin = (key: string): Promise<Value> => {
    const reading = read(key).finally(() => {
      if (current.get(key) === reading) current.delete(key)
    })
    current.set(key, reading)
    return reading
  }

  return (key) => {
    const underWay = current.get(key)
    if (underWay === undefined) return begin(key)
    const waiting = next.get(key)
    if (waiting !== undefined) return waiting
    const after = (): Promise<Value> => {
      next.delete(key)
      return begin(key)
    }
    const following = underWay.then(after, after)
    next.set(key, following)
    return following
  }
}
