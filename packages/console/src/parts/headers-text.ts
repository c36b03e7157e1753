/** The placeholder of a stored value that the server never shows; unchanged, the value stays. */
const HELD_VALUE = '••••••••'

/** Stored headers as text: one a line, with a placeholder for each value. */
export function headersText(headers: Readonly<Record<string, unknown>>): string {
  return Object.keys(headers)
    .map((header) => `${header}: ${HELD_VALUE}`)
    .join('\n')
}

/** The sentence about the placeholders in these headers; empty when there is none. */
export const placeholdersHint = (headers: string): string =>
  headers.includes(HELD_VALUE) ? ' Leave the dots to keep a value, or replace them.' : ''

/** The headers in a text, or a sentence about an invalid line. A placeholder becomes null, and the value stays. */
export function headersIn(text: string): Record<string, string | null> | string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const wrong = lines.find((line) => line.indexOf(':') < 1)
  if (wrong !== undefined)
    return `“${wrong}” is not a header. Write a name, a colon and a value, such as X-Team: billing.`
  return Object.fromEntries(
    lines.map((line) => {
      const value = line.slice(line.indexOf(':') + 1).trim()
      return [line.slice(0, line.indexOf(':')).trim(), value === HELD_VALUE ? null : value]
    }),
  )
}

/** Stored headers without their values, for a command that goes into the history of a shell. */
export function withoutValues(headers: Readonly<Record<string, unknown>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? 'YOUR_VALUE' : null]),
  )
}
