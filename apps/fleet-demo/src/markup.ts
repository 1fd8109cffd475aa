/**
 * What pages are made of.
 */
import type { html } from 'hono/html'

/** Markup in which every value was escaped. */
export type Html = ReturnType<typeof html>
