/** What a command prints, without what differs from one call to the next: secrets, codes, times and versions. */
export function constantText(text: string): string {
  return text
    .replaceAll(/[\w-]{40,}(?:\.[\w-]{20,}){0,2}/gu, 'A_TOKEN')
    .replaceAll(/\b[A-Z2-9]{4}-[A-Z2-9]{4}\b/gu, 'A_CODE')
    .replaceAll(/\b1\d{9}(?:\.\d+)?\b/gu, 'A_TIME')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, 'A_DATE')
    .replaceAll(/\b\d+ h(?: \d+ min)?|\b\d+ (?:min|s)\b/gu, 'A_WHILE')
    .replaceAll(/(?<="seconds_left": )[\d.]+/gu, 'SECONDS')
    .replaceAll(/v\d+\.\d+\.\d+ on \w+/gu, 'A_VERSION')
}
