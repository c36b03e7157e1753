import type { ReactElement } from 'react'
import { useAllTransforms } from '../../../data/lists.ts'
import { Select } from '../../../ui/field.tsx'
import type { BodyDraft } from './body-draft.ts'

type Props = {
  readonly draft: BodyDraft
  readonly change: (draft: BodyDraft) => void
  readonly kind: string
  readonly disabled: boolean
}

/** The transform that makes the request; nothing for kinds and bodies that can have none. */
export function TransformField({ draft, change, kind, disabled }: Props): ReactElement | null {
  const transforms = useAllTransforms().data ?? []
  const { form, template, transform } = draft
  if ((kind !== 'http' && kind !== 'postroad') || template !== null || form === 'as_received') return null
  return (
    <Select
      label="Transform"
      value={transform}
      disabled={disabled}
      onChange={({ target }) => change({ ...draft, transform: target.value })}
      hint="JavaScript that changes this body and the headers, or sends nothing. Its test is on the screen Transforms."
    >
      <option value="">None</option>
      {transform !== '' && !transforms.some(({ id }) => id === transform) && (
        <option value={transform}>{transform}</option>
      )}
      {transforms.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  )
}
