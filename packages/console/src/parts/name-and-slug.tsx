import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Field } from '../ui/field.tsx'

/** The name of a new project or workspace, and the slug that becomes part of its addresses. */
type Draft = { readonly name: string; readonly slug: string }
export type NameAndSlug = { readonly name: string; readonly slug?: string }

/** The request body, or the sentence about the missing name. */
export function nameAndSlugIn(
  { name, slug }: Draft,
  problem: string,
): { readonly body: NameAndSlug } | { readonly problem: string } {
  if (name.trim() === '') return { problem }
  return { body: { name: name.trim(), ...(slug.trim() === '' ? {} : { slug: slug.trim() }) } }
}

type Props = {
  readonly draft: Draft
  readonly change: (draft: Draft) => void
  readonly placeholder?: string
  /** About the slug. */
  readonly hint: string
}

export function NameAndSlugFields({ draft, change, placeholder, hint }: Props): ReactElement {
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder={placeholder}
        value={draft.name}
        onChange={({ target }) => change({ ...draft, name: target.value })}
      />
      <Field
        label="Slug"
        className="mono text-data"
        autoComplete="off"
        placeholder="made from the name"
        value={draft.slug}
        onChange={({ target }) => change({ ...draft, slug: target.value })}
        hint={hint}
      />
    </>
  )
}
