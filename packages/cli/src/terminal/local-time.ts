/** A time of day as `14:10`, by this machine's clock and zone. @param at - seconds since the epoch */
export function localTime(at: number): string {
  const date = new Date(at * 1000)
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
}
