import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import { Field, TextArea } from '../../../ui/field.tsx'
import type { BodyDraft } from './body-draft.ts'
import { FIRST_TEMPLATE, templateOf } from './template-draft.ts'

type Props = {
  readonly draft: BodyDraft
  readonly change: (draft: BodyDraft) => void
  readonly kind: string
  /** The custom body, which returns when a person chooses it again. */ readonly held?: string | null
  readonly disabled?: boolean
}

/** Kinds whose receivers get HTTP requests, and those whose messages have headers. */
const REQUESTS: ReadonlySet<string> = new Set(['http', 'postroad'])
const WITH_HEADERS: ReadonlySet<string> = new Set([...REQUESTS, 'amqp', 'nats', 'kafka', 'pubsub'])

const HINTS = {
  envelope: undefined,
  data: 'The payload without its id, dataset and time, which are also headers.',
  thin: 'The id, dataset and time of the event, and a link. The receiver reads the payload there with a Data API key.',
  as_received:
    'The bytes, query string and headers of the request, so that the receiver can verify the signature of the sender with its own library. Masked credentials are left out. Records that a mapping made are sent as payload only.',
} as const

/** The body of a delivery: the envelope, the payload, the request as received, or custom JSON. */
export function TemplateFields({ draft, change, kind, held, disabled = false }: Props): ReactElement {
  const { form, template, forwarded } = draft
  const read = templateOf(template)
  return (
    <>
      <Choice
        label="Format"
        disabled={disabled}
        of={[
          { id: 'envelope', label: 'Envelope' },
          { id: 'data', label: 'Payload only' },
          { id: 'thin', label: 'Thin' },
          ...(REQUESTS.has(kind) ? [{ id: 'as_received', label: 'As received' } as const] : []),
          { id: 'own', label: 'Custom JSON' },
        ]}
        at={template === null ? form : 'own'}
        go={(to) =>
          change(
            to === 'own'
              ? { ...draft, form: 'envelope', template: held ?? FIRST_TEMPLATE }
              : { ...draft, form: to, template: null },
          )
        }
        hint={HINTS[form]}
      />
      {template !== null && (
        <TextArea
          label="Template"
          rows={12}
          value={template}
          disabled={disabled}
          maxLength={LIMITS.templateCharsMax}
          aria-invalid={'problem' in read}
          onChange={({ target }) => change({ ...draft, template: target.value })}
          hint={
            'problem' in read ? (
              read.problem
            ) : (
              <>
                Strings can contain Liquid: <code className="mono">{'{{ id }}'}</code>,{' '}
                <code className="mono">{'{{ dataset }}'}</code>, <code className="mono">{'{{ received_at }}'}</code>,{' '}
                <code className="mono">{'{{ data.order.total }}'}</code>,{' '}
                <code className="mono">{'{{ $request.headers.x-github-event }}'}</code>. A string that contains only an
                expression takes the type of its value.
              </>
            )
          }
        />
      )}
      {form !== 'as_received' && WITH_HEADERS.has(kind) && (
        <Field
          label="Forwarded headers"
          value={forwarded}
          disabled={disabled}
          placeholder="X-GitHub-Event, X-GitHub-Delivery"
          onChange={({ target }) => change({ ...draft, forwarded: target.value })}
          hint={`Headers of the received request to send along, at most ${LIMITS.forwardedHeadersMax}. Postroad does not store credentials, so it cannot forward them.`}
        />
      )}
    </>
  )
}
