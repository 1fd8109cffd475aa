/** `docs/reference/torture.md`, out of what was played. */
import { table } from '../report/draw.mjs'
import { verdicts } from './cell.mjs'

const signs = { kept: '✓', 'calls failed': '!', stuck: '∞', 'signed out': '✗' }

/** @param played - the cells, with what became of them @param minutes - that one run took */
export function pageOf({ played, candidates, faults, seed, minutes, runs, differing, versionOf }) {
  const cellsOf = (candidate, fault) => played.filter((cell) => cell.candidate === candidate && cell.fault === fault)
  const overview = faults.map((fault) => ({
    '': `[${fault.title}](#${anchorOf(fault.title)})`,
    ...Object.fromEntries(candidates.map((candidate) => [candidate.name, signsOf(cellsOf(candidate, fault))])),
  }))
  const same = `${played.length - differing.size} of ${played.length} cells`
  const others = differing.size === 0 ? '' : ` (not in ${[...differing].join('; ').replaceAll(' | ', ': ')})`
  const twice = runs > 1 ? `, played ${runs} times with the same verdict in ${same}${others}` : ''
  const made = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, seed ${seed}, ${minutes} minutes${twice}.`
  return `${[
    introduction,
    made,
    '## What became of the sign-in',
    legend,
    table(overview),
    '## Who they are, and where each is worst',
    candidates.map((candidate) => described(candidate, played, versionOf)).join('\n'),
    '## What is lost by us',
    faults.flatMap((fault) => lostByUs(fault, played)).join('\n'),
    '## Each cell',
    ...faults.flatMap((fault) => {
      const rows = candidates.flatMap((candidate) => cellsOf(candidate, fault).map(rowOf))
      return [`### ${fault.title}`, fault.text, table(rows)]
    }),
  ].join('\n\n')}\n`
}

const introduction = `# Torture

The same faults against owner-sso and against what people use instead. \`npm run torture\` plays all of it on your machine, in ten
minutes on two cores that have nothing else to do, and draws this page. Nobody's credentials are needed, and everything is on loopback.

**The service** is strict: a refresh token works once, and one that is sent again (a replay) revokes its whole family, so that the
owner has to sign in again. Access tokens live for an hour.

**A cell** is one candidate with a store of its own, eight processes with five callers each, and one fault. A candidate that has nothing
for several processes runs in one. All ask for a token every four minutes, and use it at an owner API, until the fault has struck, and for
two hours more. Whoever dies is started again at once. Between rounds the clocks jump; while a fault lasts, time is real. Ours refreshes
before an access token ends, so its cells are played twice: in use, and after a night in which nobody asked until the access token had
ended. Once the family is revoked and all callers fail, the rest counts as failed without being played.

**A candidate** is used as its own documentation says, in a file of its own in [bench/torture/candidates](../../bench/torture/candidates).
If one is used wrongly, correct its file.`

const legend = `✓ every caller got a working token, ! callers failed for a time, ∞ the tokens are there and callers still fail after two hours,
✗ the owner has to sign in again. Two signs are in use, and after a night.`

const rank = ({ verdict }) => verdicts.indexOf(verdict)

const signsOf = (cells) => [...new Set(cells.map(({ verdict }) => signs[verdict]))].join(' ')

const ours = { worst: 'an answer after 60 s', because: 'it comes after our limit, as told below.' }

/** A candidate, and the sentence that explains its worst cell: one that is as bad as any of its cells. */
function described(candidate, played, versionOf) {
  const { name, packages, documentation, alone, worst, because } = { ...ours, ...candidate }
  const what = packages.map((each) => `${each} ${versionOf(each)}`).join(', ')
  const where = documentation ?? `../../packages/${packages[0].split('/')[1]}/README.md`
  const own = played.filter((cell) => cell.candidate === candidate)
  const told = own.filter((cell) => cell.fault.title === worst)
  if (Math.max(...told.map(rank)) < Math.max(...own.map(rank))) throw new Error(`${name} is not worst at: ${worst}`)
  return `- **${name}** (${what}, [documentation](${where})). ${alone === undefined ? '' : `${alone} `}Worst, [${worst}](#${anchorOf(worst)}): ${because}`
}

/** Why no cell of ours is worse than it must be; a fault in which one is has to say so. */
function lostByUs({ title, inherent, told }, played) {
  const lost = played.filter((cell) => cell.fault.title === title && cell.candidate.isOurs && cell.verdict !== 'kept')
  if (lost.length === 0) return []
  if (inherent === undefined && told === undefined) throw new Error(`Nothing says why ours fails at: ${title}`)
  return [`- **${title}**: ${inherent === undefined ? '' : 'inherent. '}${inherent ?? told}`]
}

export function rowOf({ candidate, moment, verdict, refreshes, replays, revoked, calls, failed, longest }) {
  const wait = longest < 10_000 ? Math.round(longest / 100) / 10 : Math.round(longest / 1000)
  const counted = {
    verdict,
    refreshes,
    replays,
    'families revoked': revoked,
    'callers failed': `${failed} of ${calls}`,
  }
  return { '': candidate.name, when: moment, ...counted, 'longest wait': `${wait} s` }
}

const anchorOf = (title) => title.replaceAll(',', '').replaceAll(' ', '-').toLowerCase()
