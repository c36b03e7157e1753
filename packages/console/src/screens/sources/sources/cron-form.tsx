import { LIMITS, type RouteRequest, type Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import type { CronTrigger } from '../../../data/source-lists.ts'
import { DatasetField } from '../../../parts/dataset-field.tsx'
import { useSettled } from '../../../parts/settled.ts'
import { Field, TextArea } from '../../../ui/field.tsx'
import { weekdayTextIn } from '../../../ui/moments.ts'

export type CronBody = RouteRequest<Routes['cronTriggers']['create']>

export type CronDraft = {
  readonly name: string
  readonly expression: string
  readonly timeZone: string
  readonly dataset: string
  readonly data: string
}

export function newCron(): CronDraft {
  return { name: '', expression: '0 9 * * 1-5', timeZone: ownZone(), dataset: '', data: '' }
}

const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

export function draftOfCron({ name, expression, time_zone, dataset, data }: CronTrigger): CronDraft {
  return {
    name,
    expression,
    timeZone: time_zone,
    dataset,
    data: data === null || data === undefined ? '' : JSON.stringify(data, null, 2),
  }
}

export function cronBodyOf(draft: CronDraft): { readonly body: CronBody } | { readonly problem: string } {
  if (draft.name.trim() === '') return { problem: 'Enter a name.' }
  if (draft.dataset.trim() === '') return { problem: 'Enter the dataset that stores the events.' }
  let data: unknown = null
  try {
    if (draft.data.trim() !== '') data = JSON.parse(draft.data)
  } catch {
    return { problem: 'The data is not valid JSON.' }
  }
  return {
    body: {
      name: draft.name.trim(),
      expression: draft.expression.trim(),
      time_zone: draft.timeZone.trim(),
      dataset: draft.dataset.trim(),
      data,
    },
  }
}

/** The zones that the browser knows. The server checks the name. */
const ZONES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function CronFields({
  draft,
  change,
  disabled = false,
}: {
  readonly draft: CronDraft
  readonly change: (part: Partial<CronDraft>) => void
  readonly disabled?: boolean
}): ReactElement {
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Each morning"
        value={draft.name}
        disabled={disabled}
        onChange={({ target }) => change({ name: target.value })}
      />
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Field
          label="Expression"
          required
          value={draft.expression}
          disabled={disabled}
          onChange={({ target }) => change({ expression: target.value })}
          className="mono text-data"
          spellCheck={false}
          hint="Minute, hour, day of the month, month, day of the week."
        />
        <Field
          label="Time zone"
          required
          list="zones"
          value={draft.timeZone}
          disabled={disabled}
          onChange={({ target }) => change({ timeZone: target.value })}
          spellCheck={false}
          hint="An IANA time zone name. The schedule follows daylight saving time."
        />
      </div>
      <datalist id="zones">
        {ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <NextRuns expression={draft.expression} timeZone={draft.timeZone} />
      <DatasetField
        label="Store events in"
        required
        value={draft.dataset}
        disabled={disabled}
        change={(dataset) => change({ dataset })}
      />
      <TextArea
        label="Data"
        rows={3}
        placeholder="null"
        value={draft.data}
        disabled={disabled}
        onChange={({ target }) => change({ data: target.value })}
        hint="Optional. JSON. Appears as data in the payload of every run, along with trigger_id, scheduled_for and fired_at."
      />
    </>
  )
}

/** The next runs of an expression, in its own zone and in UTC; or the sentence about its fault. */
export function NextRuns({
  expression,
  timeZone,
}: {
  readonly expression: string
  readonly timeZone: string
}): ReactElement {
  const text = useSettled(JSON.stringify([expression.trim(), timeZone.trim()]))
  const asked = useAsk(
    ['cronTriggers', 'preview', text],
    async (client, signal) => {
      const [first = '', zone = ''] = readPair(text)
      const { next_runs } = await client.cronTriggers.preview({ expression: first, time_zone: zone }, { signal })
      // With its zone: while a person types the next one, the browser cannot write times in it.
      return { next_runs, zone }
    },
    { keep: true },
  )
  if (asked.error !== null)
    return (
      <p role="alert" className="mb-3.5 text-fail">
        {asked.error.message}
      </p>
    )
  if (asked.data === undefined) return <p className="mb-3.5 text-ink-3">Computing the next runs…</p>
  return (
    <div className="mb-3.5" aria-busy={asked.isPlaceholderData}>
      <p className="mb-1 font-control">Next {asked.data.next_runs.length} runs</p>
      <RunTimes of={asked.data.next_runs} timeZone={asked.data.zone} />
    </div>
  )
}

export function RunTimes({
  of,
  timeZone,
}: {
  readonly of: readonly string[]
  readonly timeZone: string
}): ReactElement {
  return (
    <ol aria-label="Next runs">
      {of.map((at) => (
        <li key={at} className="flex min-h-7 flex-wrap items-center gap-x-4 border-b border-line/55">
          <time dateTime={at} className="mono text-data">
            {weekdayTextIn(timeZone, at)}
          </time>
          <span className="mono ml-auto text-meta text-ink-3">{weekdayTextIn('UTC', at)} UTC</span>
        </li>
      ))}
    </ol>
  )
}

function readPair(text: string): readonly string[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the text was written from two texts
  return JSON.parse(text) as readonly string[]
}
