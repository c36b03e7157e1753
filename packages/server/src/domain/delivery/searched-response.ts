import { parseStoredJson } from '../json/json-text.ts'

export type StoredResponse = {
  readonly response_status: number | null
  readonly response_headers: Readonly<Record<string, unknown>> | null
  readonly response_body: string | null
  readonly error_code: string | null
  readonly error_detail: string | null
}

/** The answer to one attempt, or the error, as the conditions of a search see it. A body that is not JSON is text. */
export function responseDocument(row: StoredResponse): Readonly<Record<string, unknown>> {
  const parsed = row.response_body === null ? undefined : parseStoredJson(row.response_body)
  return {
    ...(row.response_status === null ? {} : { status: row.response_status }),
    ...(row.error_code === null ? {} : { error_code: row.error_code }),
    ...(row.error_detail === null ? {} : { error: row.error_detail }),
    ...(row.response_headers === null ? {} : { headers: row.response_headers }),
    ...(row.response_body === null ? {} : { body: parsed?.ok === true ? parsed.value : row.response_body }),
  }
}

/** The answer or the error as text, for a search for text. */
export function textOfResponse(row: StoredResponse): string {
  const headers = Object.entries(row.response_headers ?? {}).map(([name, value]) => `${name}: ${String(value)}`)
  return [row.response_status, row.error_code, row.error_detail, ...headers, row.response_body]
    .filter((part) => part !== null)
    .join('\n')
}
