import { FileJson } from 'lucide-react'
import { useRef, useState, type DragEvent, type ReactElement } from 'react'
import { Part } from '../../../parts/detail.tsx'
import { Button } from '../../../ui/button.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { readConfig, type ConfigFile } from './file.ts'

const BYTES_MAX = 10_000_000
const PASTED = 'The text'

/** Takes a file by drop, by choice or as text. Nothing is sent before the plan. */
export function Choose({ onFile }: { readonly onFile: (file: ConfigFile) => void }): ReactElement {
  const [problem, setProblem] = useState<string | undefined>()
  const [text, setText] = useState('')
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const take = (name: string, content: string): void => {
    const read = readConfig(name, content)
    if ('problem' in read) setProblem(read.problem)
    else onFile({ ...read, isPasted: name === PASTED })
  }
  const takeFile = (file: File | undefined): void => {
    if (file === undefined) return
    if (file.size > BYTES_MAX) return setProblem(`${file.name} is too large to be a configuration.`)
    file.text().then(
      (content) => take(file.name, content),
      () => setProblem(`${file.name} could not be read.`),
    )
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    takeFile(event.dataTransfer.files[0])
  }
  return (
    <Part
      title="Import"
      text="Postroad first compares the file with this project and changes nothing. The plan shows what would be created, changed and deleted, and which of your newest events would be routed differently."
    >
      <div
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        className={`mb-3.5 grid justify-items-center gap-2 rounded-page border border-dashed px-4 py-8 text-center ${isOver ? 'border-accent bg-accent-soft' : 'border-line-2 bg-sunken'}`}
      >
        <FileJson className="size-5 text-ink-3" strokeWidth={1.5} aria-hidden />
        <p className="text-ink-2">Drop a postroad.json here</p>
        <Button onClick={() => input.current?.click()}>Choose a file</Button>
        <input
          ref={input}
          type="file"
          accept=".json,application/json"
          aria-label="Configuration file"
          tabIndex={-1}
          className="sr-only"
          onChange={({ target }) => takeFile(target.files?.[0])}
        />
      </div>
      <TextArea
        label="Or paste it"
        rows={4}
        placeholder={'{ "version": 1, "endpoints": [] }'}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      {problem !== undefined && (
        <p role="alert" className="mb-3.5 rounded-field bg-fail-soft px-3 py-2 text-fail">
          {problem}
        </p>
      )}
      <Button disabled={text.trim() === ''} onClick={() => take(PASTED, text)}>
        Create plan
      </Button>
    </Part>
  )
}
