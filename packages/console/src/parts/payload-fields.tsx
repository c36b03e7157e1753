import { closedJson } from '@postroad/contract/json-start'
import type { ReactElement } from 'react'
import { readJson } from '@postroad/contract/raw-number'
import { previewOf } from './preview.ts'

/** A few fields of a payload in one line. */
export function Fields({ of }: { readonly of: readonly (readonly [string, string])[] }): ReactElement {
  return (
    <span className="mono block truncate text-meta text-ink-3">
      {of.map(([key, value], index) => (
        <span key={index} className="pr-3">
          {value === '' ? (
            <b className="font-text text-ink-2">{key}</b>
          ) : (
            <>
              {key} <b className="font-text text-ink-2">{value}</b>
            </>
          )}
        </span>
      ))}
    </span>
  )
}

/** The same for a payload whose start alone has arrived. An incomplete value is shown as raw text. */
export function StartFields({
  start,
  title,
}: {
  readonly start: string
  readonly title: string | undefined
}): ReactElement {
  const fields = fieldsOfStart(start, title)
  return fields.length > 0 ? (
    <Fields of={fields} />
  ) : (
    <span className="mono block truncate text-meta text-ink-3">{start}</span>
  )
}

function fieldsOfStart(start: string, title: string | undefined): readonly (readonly [string, string])[] {
  const closed = closedJson(start)
  if (closed === undefined) return []
  try {
    return previewOf(readJson(closed), title)
  } catch {
    // Stored payloads are JSON, so no event has this text.
    return []
  }
}
