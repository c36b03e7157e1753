import type { Client } from '@postroad/sdk'
import { useState, type FormEvent, type ReactElement, type ReactNode } from 'react'
import { useChange } from '../data/ask.ts'
import { useRefusal, type useMay } from '../data/place.ts'
import { Button } from '../ui/button.tsx'
import { RefusedLine } from '../ui/states.tsx'
import { useToast } from '../ui/toast.tsx'
import { Unsaved } from './unsaved.tsx'

type Asked<Draft, Body> = {
  /** The draft before any change. */
  readonly held: Draft
  /** The request body of a draft, or the sentence about its fault. */
  readonly read: (draft: Draft) => { readonly body: Body } | { readonly problem: string }
  /** The route that changes it; it declares the required role. */
  readonly route: Parameters<typeof useMay>[0]
  /** The rooms that are read again after it. */
  readonly rooms: readonly string[]
  readonly send: (client: Client, body: Body) => Promise<unknown>
  /** When a change takes effect: `the next request`. */
  readonly countsFrom: string
}

type Bar = {
  /** Undefined while there is nothing to save. */
  readonly problem: string | undefined
  readonly error: Error | null
  readonly isRunning: boolean
  readonly discard: () => void
}

export type SaveFormState<Draft> = {
  readonly draft: Draft
  readonly change: (draft: Draft) => void
  readonly disabled: boolean
  /** The reason why it is disabled. */
  readonly refused: string | undefined
  readonly submit: (event: FormEvent) => void
  /** Undefined while nothing is changed. */
  readonly bar: Bar | undefined
}

/** Settings that are edited as a draft, and take effect when they are saved. */
export function useSaveForm<Draft, Body>({
  held,
  read,
  route,
  rooms,
  send,
  countsFrom,
}: Asked<Draft, Body>): SaveFormState<Draft> {
  // The draft is in an object, because a draft itself can be null.
  const [changed, setChanged] = useState<{ readonly draft: Draft } | undefined>()
  const refusal = useRefusal(route)
  const may = refusal === undefined
  const toast = useToast()
  const save = useChange(rooms, send)
  const draft = changed === undefined ? held : changed.draft
  const said = read(draft)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (changed === undefined || !('body' in said)) return
    save.mutate(said.body, {
      onSuccess: () => {
        // Edits since the request stay, and are not saved yet.
        setChanged((now) => (now === changed ? undefined : now))
        toast({ text: `Saved. The change applies from ${countsFrom}.` })
      },
    })
  }
  const discard = (): void => {
    setChanged(undefined)
    save.reset()
  }
  return {
    draft,
    change: (next) => setChanged({ draft: next }),
    disabled: !may,
    refused: refusal,
    submit,
    bar:
      changed === undefined
        ? undefined
        : {
            problem: 'problem' in said ? said.problem : undefined,
            error: save.error,
            isRunning: save.isPending,
            discard,
          },
  }
}

/** The props of the fields that change a part of a draft. */
export function fieldsOf<Draft extends object>({ draft, change, disabled }: SaveFormState<Draft>) {
  return { draft, disabled, change: (part: Partial<Draft>) => change({ ...draft, ...part }) }
}

type Props<Draft> = {
  readonly label: string
  readonly of: SaveFormState<Draft>
  /** Other content follows the form on the page. Otherwise the form fills its place, with the bar at the foot. */
  readonly isPart?: true
  readonly children: ReactNode
}

/** The form around the fields, with a bar at its foot that saves. The bar is there only while there are changes. */
export function SaveForm<Draft>({ label, of: { refused, submit, bar }, isPart, children }: Props<Draft>): ReactElement {
  return (
    <form
      onSubmit={submit}
      aria-label={label}
      className={`flex min-w-0 flex-col ${isPart === true ? 'border-b border-line' : 'min-h-full'}`}
    >
      {refused !== undefined && <p className="border-b border-line bg-sunken px-5 py-2 text-ink-3">{refused}</p>}
      {children}
      <Unsaved isUnsaved={bar !== undefined} />
      {bar !== undefined && (
        <div className="sticky bottom-0 z-1 mt-auto flex items-center justify-end gap-2 border-t border-line bg-surface px-5 py-2.5">
          <div className="mr-auto min-w-0">
            {bar.problem === undefined ? (
              <RefusedLine error={bar.error} />
            ) : (
              <p role="alert" className="text-fail">
                {bar.problem}
              </p>
            )}
          </div>
          <Button onClick={bar.discard}>Discard</Button>
          <Button kind="primary" type="submit" disabled={bar.problem !== undefined || bar.isRunning}>
            Save
          </Button>
        </div>
      )}
    </form>
  )
}
