import { parseStoredJson } from '../../../domain/json/json-text.ts'

/** A message of a WebSocket as the payload of an event: JSON as it is, another text as a JSON string, bytes as base64. */
export function payloadText(data: Buffer, isBinary: boolean): string {
  if (isBinary) return JSON.stringify({ base64: data.toString('base64') })
  const text = data.toString('utf8')
  return parseStoredJson(text).ok ? text : JSON.stringify(text)
}
