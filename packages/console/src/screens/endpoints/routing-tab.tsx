import { routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useAsk, useChange } from '../../data/ask.ts'
import type { Webhook } from '../../data/names.ts'
import { useMay } from '../../data/place.ts'
import { draftOf, sentOf, type ConditionDraft } from '../../parts/condition-draft.ts'
import { Conditions } from '../../parts/conditions.tsx'
import { Part, SaveBar } from '../../parts/detail.tsx'
import { DryRunResults } from '../../parts/dry-run.tsx'
import { useSettled } from '../../parts/settled.ts'
import { mappingDraftOf, mappingOf, type MappingDraft } from '../../parts/mapping-draft.ts'
import { Mappings } from '../../parts/mappings.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { RefusedLine } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'

type Draft = { readonly dataset: string; readonly criteria: readonly ConditionDraft[]; readonly mappings: readonly MappingDraft[] }
const RECENT = 200

/** Which payloads are filed, as what, and where; tried on what came lately while one types. */
export function RoutingTab({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const [changed, setChanged] = useState<Draft | undefined>()
  const may = useMay(routes.webhooks.update)
  const toast = useToast()
  const draft = changed ?? { dataset: webhook.dataset, criteria: webhook.criteria.map(draftOf), mappings: webhook.mappings.map(mappingDraftOf) }
  const criteria = draft.criteria.filter(({ path }) => path.trim() !== '').map(sentOf)
  const mappings = draft.mappings.filter(({ target }) => target.trim() !== '').map(mappingOf)
  const tried = useSettled(JSON.stringify({ criteria, mappings }))
  const test = useAsk(['webhooks', 'test', webhook.id, tried], (client, signal) => client.webhooks.test({ id: webhook.id, recent: RECENT, ...readTried(tried) }, { signal }), { keep: true })
  const save = useChange(['webhooks'], (client) => client.webhooks.update({ id: webhook.id, dataset: draft.dataset.trim(), criteria, mappings }))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    save.mutate(undefined, {
      onSuccess: () => {
        setChanged(undefined)
        toast({ text: 'Saved. It counts from the next request on.' })
      },
    })
  }
  const set = (part: Partial<Draft>): void => setChanged({ ...draft, ...part })
  return (
    <form onSubmit={submit} aria-label="Criteria and mappings">
      <Part title="Which payloads are filed" text="All conditions must hold. What they turn away is stored all the same, with the reason."><Conditions label="Criteria" conditions={draft.criteria} change={(next) => set({ criteria: next })} disabled={!may} empty="Every payload is filed." /></Part>
      <Part title="As what, and where">
        <Mappings mappings={draft.mappings} change={(next) => set({ mappings: next })} disabled={!may} />
        <Field label="Dataset" value={draft.dataset} disabled={!may} onChange={({ target }) => set({ dataset: target.value })} className="mono text-data" hint="It is made by the first event, if it is not there yet." />
      </Part>
      <Part title="Tried on what came lately" text="Nothing is stored or sent by this."><DryRunResults asked={test} /></Part>
      {changed !== undefined && (
        <SaveBar>
          <div className="mr-auto min-w-0"><RefusedLine error={save.error} /></div>
          <Button onClick={() => { setChanged(undefined); save.reset() }}>Discard</Button>
          <Button kind="primary" type="submit" disabled={save.isPending}>Save</Button>
        </SaveBar>
      )}
    </form>
  )
}

type Tried = { readonly criteria: ReturnType<typeof sentOf>[]; readonly mappings: ReturnType<typeof mappingOf>[] }

function readTried(text: string): Tried {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written from these two a moment ago
  return JSON.parse(text) as Tried
}
