import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { FIRST_TEMPLATE, templateOf, type TemplateDraft } from './template-draft.ts'

type Props = {
  readonly draft: TemplateDraft
  readonly change: (draft: TemplateDraft) => void
  /** The custom body, which returns when a person chooses it again. */ readonly held?: string | null
  readonly disabled?: boolean
}

/** The body of a delivery: the envelope, or custom JSON. */
export function TemplateFields({ draft, change, held, disabled = false }: Props): ReactElement {
  const read = templateOf(draft)
  return (
    <>
      <Choice
        label="Format"
        disabled={disabled}
        of={[
          { id: 'envelope', label: 'Envelope' },
          { id: 'own', label: 'Custom JSON' },
        ]}
        at={draft === null ? 'envelope' : 'own'}
        go={(to) => change(to === 'envelope' ? null : (held ?? FIRST_TEMPLATE))}
      />
      {draft !== null && (
        <TextArea
          label="Template"
          rows={12}
          value={draft}
          disabled={disabled}
          maxLength={LIMITS.templateCharsMax}
          aria-invalid={'problem' in read}
          onChange={({ target }) => change(target.value)}
          hint={
            'problem' in read ? (
              read.problem
            ) : (
              <>
                Strings can contain Liquid: <code className="mono">{'{{ id }}'}</code>,{' '}
                <code className="mono">{'{{ dataset }}'}</code>, <code className="mono">{'{{ received_at }}'}</code>,{' '}
                <code className="mono">{'{{ data.order.total }}'}</code>. A string that contains only an expression
                takes the type of its value.
              </>
            )
          }
        />
      )}
    </>
  )
}
