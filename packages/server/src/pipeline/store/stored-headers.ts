/** Headers that carry credentials: their names are kept with a submission, their values are not. */
const MASKED = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-api-key'])

/** The headers of a request as JSON, for the submission. */
export function storedHeaders(headers: Readonly<Record<string, string>>): string {
  let json = '{'
  for (const name in headers) {
    const value = MASKED.has(name) ? '•••' : (headers[name] ?? '')
    json += `${json.length > 1 ? ',' : ''}${JSON.stringify(name)}:${JSON.stringify(value.replaceAll('\0', ''))}`
  }
  return `${json}}`
}
