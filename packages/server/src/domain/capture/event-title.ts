import { closedJson, TITLE_MEMBERS, type EventTitle } from '@postroad/contract'
import { isRawNumber, parseStoredJson } from '../json/json-text.ts'
import { readPath } from '../routing/dot-path.ts'
import { compileEventPath, readEvent } from '../routing/event-path.ts'

type Of = {
  readonly header_title: string | null
  /** The setting of the endpoint that received the event. */
  readonly event_title: EventTitle
  /** The payload, or the first characters of it. */
  readonly start: string
}

const TITLE_CHARS_MAX = 80

/**
 * The sender's name for an event, if the start of its payload contains one; otherwise null. The console applies the
 * same rule to whole payloads.
 */
export function titleOfEvent({ header_title, event_title, start }: Of): string | null {
  if (header_title !== null) return header_title
  const closed = closedJson(start)
  const parsed = closed === undefined ? undefined : parseStoredJson(closed)
  if (parsed?.ok !== true) return null
  const path = event_title !== null && 'path' in event_title ? event_title.path : undefined
  const atPath =
    path === undefined
      ? undefined
      : titleText(readEvent({ payload: parsed.value, request: null }, compileEventPath(path)))
  return atPath ?? memberTitle(parsed.value) ?? null
}

function memberTitle(data: unknown): string | undefined {
  if (Array.isArray(data)) return undefined
  return TITLE_MEMBERS.map((name) => {
    const value = readPath(data, [name])
    return typeof value === 'string' ? titleText(value) : undefined
  }).find((text) => text !== undefined)
}

function titleText(value: unknown): string | undefined {
  const text = leafText(value)?.trim() ?? ''
  return text === '' || text.length > TITLE_CHARS_MAX ? undefined : text
}

function leafText(value: unknown): string | undefined {
  if (isRawNumber(value)) return value.rawJSON
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

/** The first characters of a payload, without half a character at the end. */
export function startOfEvent(payload: string, charsMax: number): string {
  const start = payload.slice(0, charsMax)
  return /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start
}
