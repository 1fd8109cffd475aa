/** `owner-sso keep`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { flag, type OptionsOf, value } from '../command-line/option.ts'

export const keep = command({
  name: 'keep',
  summary: 'keep all accounts signed in',
  description:
    'Runs until Ctrl-C or SIGTERM. Looks at all accounts of the store again and again, and refreshes those whose ' +
    'session soon ends because nobody calls: the soonest first, at an even pace. Several may run, on several ' +
    'machines: one works at a time. A time is a number with its unit: 90s, 15m, 2h, 30d. --once makes one sweep ' +
    'and ends, for cron.',
  options: {
    within: value('<time>', 'refresh sessions that end within this time (default: 2h)'),
    every: value('<time>', 'from one sweep to the next; at most a quarter of --within (default: an eighth of it)'),
    refreshTokenLifetime: value('<time>', 'how long a refresh token lives unused, if you know it'),
    once: flag('one sweep, without pauses between its refreshes'),
  },
  examples: [
    ['owner-sso keep', 'in a service: see docs/guides/unattended-scripts.md'],
    ['owner-sso keep --within 2d --refresh-token-lifetime 30d', 'far fewer refreshes'],
    ['owner-sso keep --once --within 6h', 'in a crontab, every three hours'],
  ],
})

export type KeepFlags = OptionsOf<(typeof keep)['options']>
