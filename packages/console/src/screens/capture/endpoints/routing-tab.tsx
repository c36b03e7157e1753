import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import type { Webhook } from '../../../data/lists.ts'
import { draftOf, sentOf, type ConditionDraft } from '../../../parts/condition-draft.ts'
import { Conditions } from '../../../parts/conditions.tsx'
import { Part } from '../../../parts/detail.tsx'
import { DryRunResults } from '../../../parts/dry-run.tsx'
import { useSettled } from '../../../parts/settled.ts'
import { lineProblem, mappingDraftOf, mappingOf, type MappingDraft } from '../../../parts/mapping-draft.ts'
import { Mappings } from '../../../parts/mappings.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Field } from '../../../ui/field.tsx'
import { customerDraftOf, CustomerFields, customerOf, type CustomerDraft } from '../../../parts/customer-fields.tsx'

type Draft = {
  readonly dataset: string
  readonly criteria: readonly ConditionDraft[]
  readonly mappings: readonly MappingDraft[]
  readonly customer: CustomerDraft
}
const RECENT = 200

function routingOf({ dataset, criteria, mappings, customer }: Webhook): Draft {
  return {
    dataset,
    criteria: criteria.map(draftOf),
    mappings: mappings.map(mappingDraftOf),
    customer: customerDraftOf(customer),
  }
}

/** The payloads that are filed, their fields and their dataset; tested with recent events while a person types. */
export function RoutingTab({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const form = useSaveForm({
    held: routingOf(webhook),
    read: (typed) => {
      const customer = customerOf(typed.customer)
      const problem = lineProblem({ conditions: typed.criteria, mappings: typed.mappings })
      if (problem !== undefined) return { problem }
      return 'problem' in customer
        ? customer
        : { body: { dataset: typed.dataset.trim(), ...customer, ...triedOf(typed) } }
    },
    route: routes.webhooks.update,
    rooms: ['webhooks'],
    send: (client, body) => client.webhooks.update({ id: webhook.id, ...body }),
    countsFrom: 'the next request',
  })
  const { draft, disabled, change } = fieldsOf(form)
  const tried = useSettled(JSON.stringify(triedOf(draft)))
  const test = useAsk(
    ['webhooks', 'test', webhook.id, tried],
    (client, signal) => client.webhooks.test({ id: webhook.id, recent: RECENT, ...readTried(tried) }, { signal }),
    { keep: true },
  )
  return (
    <SaveForm label="Criteria and mappings" of={form}>
      <Part
        title="Criteria for payloads to store"
        text="All conditions must match. If they do not, Postroad stores the request and the reason, but adds nothing to the dataset."
      >
        <Conditions
          label="Criteria"
          conditions={draft.criteria}
          change={(next) => change({ criteria: next })}
          disabled={disabled}
          empty="Postroad stores every payload in the dataset."
        />
      </Part>
      <Part title="Mappings and dataset">
        <Mappings mappings={draft.mappings} change={(next) => change({ mappings: next })} disabled={disabled} />
        <Field
          label="Dataset"
          value={draft.dataset}
          disabled={disabled}
          onChange={({ target }) => change({ dataset: target.value })}
          className="mono text-data"
          hint="The first event creates the dataset if it does not exist."
        />
      </Part>
      <Part
        title="Customer"
        text="The customer that an event is for. Postroad also delivers the event to the destinations that this customer added in a portal."
      >
        <CustomerFields draft={draft.customer} change={(customer) => change({ customer })} disabled={disabled} />
      </Part>
      <Part title="Test with recent events" text="The test does not store or send anything.">
        <DryRunResults asked={test} />
      </Part>
    </SaveForm>
  )
}

/** Leaves out lines that are still empty. */
function triedOf({ criteria, mappings }: Draft): Tried {
  return {
    criteria: criteria.filter(({ path }) => path.trim() !== '').map(sentOf),
    mappings: mappings.filter(({ target }) => target.trim() !== '').map(mappingOf),
  }
}

type Tried = { readonly criteria: ReturnType<typeof sentOf>[]; readonly mappings: ReturnType<typeof mappingOf>[] }

function readTried(text: string): Tried {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the text was written from such a value
  return JSON.parse(text) as Tried
}
