import { Download } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { usePlace } from '../../../data/place.ts'
import type { Dataset } from '../../../data/serving-lists.ts'
import { Choice } from '../../../parts/choice.tsx'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { Part } from '../../../parts/detail.tsx'
import { Field } from '../../../ui/field.tsx'

type Format = 'ndjson' | 'csv' | 'parquet'

const FORMATS: readonly { readonly id: Format; readonly label: string; readonly text: string }[] = [
  { id: 'ndjson', label: 'NDJSON', text: 'One record per line, with its payload as received.' },
  {
    id: 'csv',
    label: 'CSV',
    text: 'For spreadsheets. Cells that look like formulas get a leading apostrophe.',
  },
  { id: 'parquet', label: 'Parquet', text: 'For data warehouses. Columns have the types from the schema.' },
]

/** The records of the dataset as one file, oldest first. The browser downloads it while the server reads. */
export function ExportTab({ dataset: { id, name } }: { readonly dataset: Dataset }): ReactElement {
  const { project } = usePlace()
  const [format, setFormat] = useState<Format>('ndjson')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [columns, setColumns] = useState('')
  const path = `datasets/${id}/export/${format}`
  const query = {
    from: instantIn(from),
    to: instantIn(to),
    columns: format === 'ndjson' || columns.trim() === '' ? undefined : columns.trim(),
  }
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
  return (
    <Part title="Export" text="All stored records, oldest first. There is no size limit.">
      <Choice
        label="Format"
        of={FORMATS}
        at={format}
        go={setFormat}
        hint={FORMATS.find((one) => one.id === format)?.text}
      />
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Field
          label="From"
          type="datetime-local"
          value={from}
          onChange={({ target }) => setFrom(target.value)}
          hint="Optional. In your time zone. Leave empty to start with the first record."
        />
        <Field
          label="To"
          type="datetime-local"
          value={to}
          onChange={({ target }) => setTo(target.value)}
          hint="Optional. Leave empty to include the newest record."
        />
      </div>
      {format !== 'ndjson' && (
        <Field
          label="Columns"
          placeholder="the schema fields"
          value={columns}
          onChange={({ target }) => setColumns(target.value)}
          className="mono text-data"
          hint="Dot paths, separated by commas."
        />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <a
          href={`/admin/api/projects/${project.id}/${path}${search.size === 0 ? '' : `?${search.toString()}`}`}
          download={`${name}.${format}`}
          className="inline-flex h-7 items-center gap-[7px] rounded-button border border-ink bg-ink px-2.5 font-control text-on-ink hover:opacity-90"
        >
          <Download className="size-3.5" strokeWidth={1.5} aria-hidden />
          Download {name}.{format}
        </a>
        <CopyAs call={{ path, query }} />
      </div>
    </Part>
  )
}

/** A local time of a field as RFC 3339. */
function instantIn(text: string): string | undefined {
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}
