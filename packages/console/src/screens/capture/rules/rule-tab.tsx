import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Rule } from '../../../data/lists.ts'
import { Part } from '../../../parts/detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { bodyOf, draftOfRule } from './draft.ts'
import { NameField, ThenFields, WhenFields } from './form.tsx'
import { TryPart } from './try-part.tsx'

/** The conditions and fields of a rule, and their result on recent events. Nothing changes until it is saved. */
export function RuleTab({ rule }: { readonly rule: Rule }): ReactElement {
  const form = useSaveForm({
    held: draftOfRule(rule),
    read: bodyOf,
    route: routes.rules.update,
    rooms: ['rules'],
    send: (client, body) => client.rules.update({ id: rule.id, ...body }),
    countsFrom: 'the next request',
  })
  const fields = fieldsOf(form)
  return (
    <div className="grid min-h-full grid-cols-[minmax(0,1fr)_minmax(0,360px)] max-xl:grid-cols-1">
      <SaveForm label="Rule" of={form}>
        <Part title="When" text="All conditions must match.">
          <WhenFields {...fields} />
        </Part>
        <Part
          title="Then"
          text="Each matching rule stores a separate record. Rules have no order and do not affect each other."
        >
          <ThenFields {...fields} />
          <NameField {...fields} />
        </Part>
      </SaveForm>
      <section
        aria-label="Tried"
        className="min-w-0 border-l border-line bg-sunken px-5 py-5 max-xl:border-t max-xl:border-l-0"
      >
        <h3 className="font-title">Test</h3>
        <p className="mb-3 text-ink-3">The test does not store or send anything.</p>
        <TryPart draft={form.draft} />
      </section>
    </div>
  )
}
