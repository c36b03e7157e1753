import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { useState } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useNewestRecords } from '../../../parts/record-choice.tsx'
import { useSettled } from '../../../parts/settled.ts'
import type { Definition } from './definition.ts'

export type Tried = RouteAnswer<Routes['workflows']['dryRun']>
type Asked = RouteRequest<Routes['workflows']['dryRun']>

export type Try = {
  /** The record to try the draft on; '' means a payload that the person writes. */
  readonly recordId: string
  readonly setRecordId: (id: string) => void
  readonly payload: string
  readonly setPayload: (text: string) => void
  /** The outputs of steps as JSON texts, by the id of the step. */
  readonly outputs: Readonly<Record<string, string>>
  readonly setOutput: (id: string, text: string) => void
  readonly result: Tried | undefined
  /** The sentence of the server about the definition; undefined: it is correct. */
  readonly refused: Error | null
  readonly isBusy: boolean
  /** The body of the request, to copy. */
  readonly body: Asked | undefined
}

const SAMPLE = '{"id":"ord_1","type":"order.created","total":42.5}'

/** Tries the draft on a stored record or on a payload, again after each change. Nothing is stored, and no step acts. */
export function useTry({ id, definition }: { readonly id: string; readonly definition: Definition }): Try {
  const newest = useNewestRecords(definition.entry_dataset)
  const [chosen, setRecordId] = useState<string | undefined>()
  const [payload, setPayload] = useState(SAMPLE)
  const [outputs, setOutputs] = useState<Readonly<Record<string, string>>>({})
  const recordId = chosen ?? newest?.[0]?.id ?? ''
  const { entry_dataset, entry_conditions, steps } = definition
  const subject = recordId === '' ? payloadIn(payload) : { record_id: recordId }
  const body = subject && {
    workflow_id: id,
    entry_dataset,
    entry_conditions,
    steps,
    outputs: outputsIn(outputs),
    ...subject,
  }
  const text = useSettled(JSON.stringify(body ?? null))
  const asked = useAsk(
    ['workflows', 'try', text],
    (client, signal) => client.workflows.dryRun(readAsked(text), { signal }),
    { enabled: text !== 'null', keep: true },
  )
  return {
    recordId,
    setRecordId,
    payload,
    setPayload,
    outputs,
    setOutput: (step, output) => setOutputs((now) => ({ ...now, [step]: output })),
    result: asked.error === null ? asked.data : undefined,
    refused: asked.error,
    isBusy: asked.isPlaceholderData || (asked.isPending && text !== 'null'),
    body: body === undefined ? undefined : readAsked(JSON.stringify(body)),
  }
}

function payloadIn(text: string): { readonly payload: unknown } | undefined {
  try {
    return { payload: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function outputsIn(texts: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([id, text]) => {
      const read = payloadIn(text)
      return text.trim() === '' || read === undefined ? [] : [[id, read.payload] as const]
    }),
  )
}

function readAsked(text: string): Asked {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- useTry wrote this text from such a value
  return JSON.parse(text) as Asked
}
