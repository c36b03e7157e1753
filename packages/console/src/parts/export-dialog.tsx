import { csvLine } from '@postroad/contract/csv'
import { useRef, useState, type ReactElement } from 'react'
import { pause } from '../data/run-all.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { RefusedLine } from '../ui/states.tsx'
import { useToast } from '../ui/toast.tsx'
import { Choice } from './choice.tsx'

/** The rows to write, page by page, as cells and as JSON. */
export type ExportSource<Row> = {
  /** The name of the rows and of the file: `events`. */
  readonly name: string
  /** The selection, in a sentence. */
  readonly text: string
  readonly pages: (signal: AbortSignal) => AsyncIterable<{ readonly rows: readonly Row[]; readonly scanned: number }>
  readonly columns: readonly { readonly name: string; readonly of: (row: Row) => string | null }[]
  readonly json: (row: Row) => unknown
}

type Format = 'csv' | 'ndjson'
type Course = {
  readonly state: 'asked' | 'running' | 'stopped' | 'failed'
  readonly rows: number
  readonly scanned: number
  readonly error: Error | null
}

const FORMATS: readonly { readonly id: Format; readonly label: string }[] = [
  { id: 'csv', label: 'CSV' },
  { id: 'ndjson', label: 'NDJSON' },
]
const HINTS: Readonly<Record<Format, string>> = {
  csv: 'For spreadsheets. Cells that look like formulas get a leading apostrophe.',
  ndjson: 'For programs. One JSON object per line. Numbers keep all their digits.',
}
const TYPES: Readonly<Record<Format, string>> = { csv: 'text/csv;charset=utf-8', ndjson: 'application/x-ndjson' }
/** The pause between pages, because the rest of the console needs the server too. */
const PAUSE_MS = 150
const ASKED: Course = { state: 'asked', rows: 0, scanned: 0, error: null }

/** Writes all pages of a list into a file. It shows its progress, and a person can stop it. */
export function ExportDialog<Row>({
  source,
  onClose,
}: {
  readonly source: ExportSource<Row>
  readonly onClose: () => void
}): ReactElement {
  const [format, setFormat] = useState<Format>('csv')
  const [course, setCourse] = useState(ASKED)
  const toast = useToast()
  const stopper = useRef<AbortController>(undefined)
  const parts = useRef<Blob>(undefined)
  const write = async (): Promise<void> => {
    const stop = new AbortController()
    stopper.current = stop
    setCourse({ ...ASKED, state: 'running' })
    const file = fileOf(source, format)
    let [rows, scanned] = [0, 0]
    try {
      for await (const page of source.pages(stop.signal)) {
        file.add(page.rows)
        rows += page.rows.length
        scanned += page.scanned
        setCourse({ state: 'running', rows, scanned, error: null })
        if (stop.signal.aborted) break
        await pause(PAUSE_MS)
      }
    } catch (error) {
      if (!stop.signal.aborted) {
        parts.current = file.blob()
        setCourse({ state: 'failed', rows, scanned, error: error instanceof Error ? error : new Error(String(error)) })
        return
      }
    }
    parts.current = file.blob()
    if (stop.signal.aborted) setCourse({ state: 'stopped', rows, scanned, error: null })
    else save()
  }
  const save = (): void => {
    if (parts.current === undefined) return
    const name = `${source.name}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${format}`
    download(parts.current, name)
    toast({ text: `Saved as ${name}.` })
    onClose()
  }
  const close = (): void => {
    stopper.current?.abort()
    onClose()
  }
  return (
    <Dialog
      open
      onClose={close}
      title={`Export ${source.name}`}
      lead={source.text}
      actions={
        <Actions
          course={course}
          close={close}
          write={() => void write()}
          stop={() => stopper.current?.abort()}
          save={save}
        />
      }
    >
      {course.state === 'asked' && (
        <Choice label="Format" of={FORMATS} at={format} go={setFormat} hint={HINTS[format]} />
      )}
      {course.state !== 'asked' && (
        <div>
          {course.state === 'running' && <progress aria-label="Exporting" className="h-1 w-full accent-(--accent)" />}
          <p role="status">
            {course.state === 'running'
              ? ''
              : course.state === 'stopped'
                ? 'Stopped. '
                : 'Some rows could not be read. '}
            {course.rows.toLocaleString('en')} rows
            {course.scanned > course.rows ? `, ${course.scanned.toLocaleString('en')} searched` : ''}
          </p>
          <RefusedLine error={course.error} />
        </div>
      )}
    </Dialog>
  )
}

type ActionsProps = {
  readonly course: Course
  readonly close: () => void
  readonly write: () => void
  readonly stop: () => void
  readonly save: () => void
}

function Actions({ course: { state, rows }, close, write, stop, save }: ActionsProps): ReactElement {
  switch (state) {
    case 'asked':
      return (
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" onClick={write}>
            Export
          </Button>
        </>
      )
    case 'running':
      return <Button onClick={stop}>Stop</Button>
    case 'stopped':
    case 'failed':
      return (
        <>
          <Button onClick={close}>Discard</Button>
          <Button kind="primary" onClick={save}>
            Save these {rows.toLocaleString('en')}
          </Button>
        </>
      )
  }
}

const BYTES_AT_ONCE = 1_000_000

/** Text becomes a Blob as it grows: the browser can move a Blob to disk. */
function fileOf<Row>(
  { columns, json }: ExportSource<Row>,
  format: Format,
): { add: (rows: readonly Row[]) => void; blob: () => Blob } {
  const done: Blob[] = []
  // Without this mark, spreadsheets read UTF-8 as another encoding.
  let text = format === 'csv' ? `\uFEFF${csvLine(columns.map(({ name }) => name))}` : ''
  const lineOf = (row: Row): string =>
    format === 'csv' ? csvLine(columns.map(({ of }) => of(row))) : `${JSON.stringify(json(row))}\n`
  return {
    add: (rows) => {
      for (const row of rows) text += lineOf(row)
      if (text.length < BYTES_AT_ONCE) return
      done.push(new Blob([text]))
      text = ''
    },
    blob: () => new Blob([...done, text], { type: TYPES[format] }),
  }
}

function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
