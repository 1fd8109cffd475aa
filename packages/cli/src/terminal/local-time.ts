/**
 * A time for people, by this machine's clock and zone: `14:10 GMT+1`, with its day in front where that is not today:
 * `2030-01-31 14:10 GMT+1`. Programs get seconds since the epoch, or ISO 8601 in UTC.
 *
 * @param at - seconds since the epoch
 */
export function localTime(at: number): string {
  const date = new Date(at * 1000)
  const day = dayOf(date)
  const time = [date.getHours(), date.getMinutes()].map(twoDigits).join(':')
  const zone = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' })
    .formatToParts(date)
    .find(({ type }) => type === 'timeZoneName')
  return [...(day === dayOf(new Date()) ? [] : [day]), time, zone?.value ?? ''].join(' ')
}

function dayOf(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-')
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
