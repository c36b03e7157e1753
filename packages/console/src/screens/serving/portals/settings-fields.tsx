import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import { DatasetChoice } from '../../../parts/dataset-choice.tsx'
import { Field } from '../../../ui/field.tsx'
import type { SettingsDraft } from './draft.ts'

const SERVES = [
  { id: 'many_customers', label: 'Many customers' },
  { id: 'one_customer', label: 'One customer' },
] as const
const SERVES_TEXTS: Readonly<Record<SettingsDraft['serves'], string>> = {
  many_customers: 'One portal for all your customers. Each sees only their own destinations and deliveries.',
  one_customer: 'The portal belongs to the first customer who gets a link to it. Links for others are refused.',
}

type Props = {
  readonly draft: SettingsDraft
  readonly change: (part: Partial<SettingsDraft>) => void
  readonly disabled?: boolean
}

/** The name of a portal, its customers and its event types. */
export function SettingsFields({ draft, change, disabled = false }: Props): ReactElement {
  const { name, slug, datasets, serves } = draft
  return (
    <fieldset disabled={disabled}>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Customer webhooks"
        value={name}
        onChange={({ target }) => change({ name: target.value })}
        hint="Customers see this name unless you set another one under Appearance."
      />
      <Field
        label="Slug"
        placeholder="made from the name"
        className="mono text-data"
        value={slug}
        onChange={({ target }) => change({ slug: target.value })}
      />
      <Choice
        label="Portal type"
        of={SERVES}
        at={serves}
        go={(id) => change({ serves: id })}
        disabled={disabled}
        hint={SERVES_TEXTS[serves]}
      />
      <DatasetChoice
        label="Datasets that customers can receive"
        datasets={datasets}
        change={(next) => change({ datasets: next })}
        disabled={disabled}
      />
    </fieldset>
  )
}
