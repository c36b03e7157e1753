import { useState, type FormEvent, type ReactElement } from 'react'
import { useAsk } from '../data/portal.ts'
import type { DestinationBody } from '../data/server.ts'
import { Button } from '../ui/button.tsx'
import { Check, Field } from '../ui/field.tsx'
import { RefusedNotice } from '../ui/states.tsx'

const DESCRIPTION_CHARS_MAX = 120
/** The form has a filter from this many event types on. */
const MANY = 9

type Props = {
  readonly first: DestinationBody
  readonly verb: string
  readonly error: Error | null
  readonly isRunning: boolean
  /** The reason why nothing can be changed now. */
  readonly refused: string | undefined
  readonly onSubmit: (body: DestinationBody) => void
  readonly onCancel: () => void
}

/** The settings of a destination. */
export function DestinationForm({ first, verb, error, isRunning, refused, onSubmit, onCancel }: Props): ReactElement {
  const [url, setUrl] = useState(first.url)
  const [description, setDescription] = useState(first.description ?? '')
  const [types, setTypes] = useState<readonly string[] | null>(first.event_types)
  const [isTried, setTried] = useState(false)
  const problem = problemOf(url)
  const noTypes = types?.length === 0
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setTried(true)
    if (problem !== undefined || noTypes) return
    onSubmit({
      url: url.trim(),
      description: description.trim() === '' ? null : description.trim(),
      event_types: types === null ? null : [...types],
    })
  }
  return (
    <form noValidate onSubmit={submit} className="max-w-[640px]">
      <Field
        label="URL"
        type="url"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        required
        placeholder="https://example.com/webhooks"
        className="mono"
        value={url}
        problem={isTried ? problem : undefined}
        hint="An https URL on the public internet. It receives a POST request with JSON for each event, and must respond with a 2xx status."
        onInput={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      <Field
        label="Description"
        maxLength={DESCRIPTION_CHARS_MAX}
        placeholder="Production"
        hint="Optional. A name that helps you recognize this destination."
        value={description}
        onInput={({ currentTarget }) => setDescription(currentTarget.value)}
      />
      <EventTypeChoice types={types} change={setTypes} />
      {isTried && noTypes && (
        <p role="alert" className="mb-4 text-body text-fail">
          Choose at least one event type, or all event types.
        </p>
      )}
      <RefusedNotice error={error} />
      {refused !== undefined && <p className="mb-4 text-body text-retry-text">{refused}</p>}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" kind="primary" disabled={isRunning || refused !== undefined}>
          {verb}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  )
}

/** The fault of an address, before it is sent. The server checks the rest. */
function problemOf(text: string): string | undefined {
  if (text.trim() === '') return 'Enter the URL that should receive the events.'
  try {
    const { protocol } = new URL(text.trim())
    if (protocol === 'https:') return undefined
    return protocol === 'http:'
      ? 'The URL must start with https://, so that nobody can read the events in transit. For a program on your machine, use an https tunnel.'
      : 'The URL must start with https://.'
  } catch {
    return 'This is not a complete URL. Enter a URL such as https://example.com/webhooks.'
  }
}

function EventTypeChoice({
  types,
  change,
}: {
  readonly types: readonly string[] | null
  readonly change: (types: readonly string[] | null) => void
}): ReactElement {
  const asked = useAsk(['event-types'], (server, signal) => server.eventTypes(signal))
  const [filter, setFilter] = useState('')
  const known = asked.data?.event_types.map(({ name }) => name) ?? []
  // A chosen type that the portal no longer exposes remains visible, so that a person can remove it.
  const names = [...new Set([...known, ...(types ?? [])])].toSorted()
  const found = names.filter((name) => name.toLowerCase().includes(filter.trim().toLowerCase()))
  return (
    <fieldset className="mb-5">
      <legend className="mb-1 font-strong">Event types</legend>
      <Check
        type="radio"
        name="types"
        checked={types === null}
        onChange={() => change(null)}
        label={
          <>
            All event types<span className="text-ink-3">, including ones added later</span>
          </>
        }
      />
      <Check
        type="radio"
        name="types"
        checked={types !== null}
        disabled={names.length === 0}
        onChange={() => change(types ?? [])}
        label="Only selected event types"
      />
      {types !== null && (
        <div className="mt-2 rounded-field border border-line bg-surface p-3">
          {names.length >= MANY && (
            <input
              aria-label="Filter event types"
              placeholder="Filter"
              value={filter}
              onInput={({ currentTarget }) => setFilter(currentTarget.value)}
              className="mb-2 min-h-8 w-full rounded-field border border-line-2 bg-surface px-2.5"
            />
          )}
          <div className="grid max-h-64 grid-cols-[repeat(auto-fill,minmax(200px,1fr))] gap-x-4 overflow-y-auto">
            {found.map((name) => (
              <Check
                key={name}
                checked={types.includes(name)}
                onChange={({ currentTarget: { checked } }) =>
                  change(checked ? [...types, name].toSorted() : types.filter((one) => one !== name))
                }
                label={<span className="mono text-body">{name}</span>}
              />
            ))}
          </div>
          {found.length === 0 && <p className="text-body text-ink-3">No event type contains “{filter}”.</p>}
        </div>
      )}
      <RefusedNotice error={asked.error} again={asked.refetch} />
    </fieldset>
  )
}
