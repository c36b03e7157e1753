import type { ReactElement } from 'react'
import type { Webhook } from '../data/lists.ts'
import { Choice } from './choice.tsx'
import { Field } from '../ui/field.tsx'

type Place = 'none' | 'header' | 'path'
/** The place of the customer in an event, in a form. */
export type CustomerDraft = { readonly place: Place; readonly text: string }

const PLACES: readonly { readonly id: Place; readonly label: string }[] = [
  { id: 'none', label: 'No customer' },
  { id: 'header', label: 'In a header' },
  { id: 'path', label: 'In the payload' },
]

export function customerDraftOf(customer: Webhook['customer']): CustomerDraft {
  if (customer === null) return { place: 'none', text: '' }
  return 'header' in customer ? { place: 'header', text: customer.header } : { place: 'path', text: customer.path }
}

type Read = { readonly customer: Webhook['customer'] } | { readonly problem: string }

/** The setting of a draft, or the sentence about its fault. The server checks the rest. */
export function customerOf({ place, text }: CustomerDraft): Read {
  const named = text.trim()
  if (place === 'none') return { customer: null }
  if (named === '')
    return {
      problem:
        place === 'header'
          ? 'Enter the header that contains the customer ID.'
          : 'Enter the payload field that contains the customer ID.',
    }
  return { customer: place === 'header' ? { header: named } : { path: named } }
}

/** The place where an event names its customer, by the customer's id in a portal. */
export function CustomerFields({
  draft: { place, text },
  change,
  disabled,
}: {
  readonly draft: CustomerDraft
  readonly change: (draft: CustomerDraft) => void
  readonly disabled: boolean
}): ReactElement {
  return (
    <>
      <Choice
        label="Customer ID source"
        of={PLACES}
        at={place}
        go={(id) => change({ place: id, text: '' })}
        disabled={disabled}
      />
      {place !== 'none' && (
        <Field
          label={place === 'header' ? 'Header' : 'Payload field'}
          placeholder={place === 'header' ? 'Service-Customer' : 'customer.id'}
          value={text}
          disabled={disabled}
          onChange={({ target }) => change({ place, text: target.value })}
          className="mono text-data"
          hint="Contains your own ID for the customer."
        />
      )}
    </>
  )
}
