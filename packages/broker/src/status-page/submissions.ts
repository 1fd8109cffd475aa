/**
 * What a person submits, one thing after the other: a second click on the same button is the same submission, and whatever else
 * is sent meanwhile waits for its turn.
 */
import type { Visit } from './visit.ts'

/** Answers a request with what became of a submission. */
export type Reply = (visit: Visit) => Promise<void> | void

interface UnderWay {
  readonly what: string
  readonly reply: Promise<Reply>
}

/** @returns what submits, once for requests of one visitor that say the same at the same time */
export function submissions(): (visit: Visit, submit: () => Promise<Reply>) => Promise<void> {
  /** The last one of each visitor. */
  const underWay = new Map<string, UnderWay>()
  return async (visit, submit) => {
    const { visitor, url, form } = visit
    const what = `${url.pathname} ${form.toString()}`
    const last = underWay.get(visitor.id)
    if (last?.what === what) return (await last.reply)(visit)
    const reply = last === undefined ? submit() : last.reply.then(submit, submit)
    const own = { what, reply }
    underWay.set(visitor.id, own)
    try {
      await (
        await reply
      )(visit)
    } finally {
      if (underWay.get(visitor.id) === own) underWay.delete(visitor.id)
    }
  }
}
