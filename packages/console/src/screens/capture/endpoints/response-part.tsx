import type { ReactElement } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import { Part } from '../../../parts/detail.tsx'
import { Field, TextArea } from '../../../ui/field.tsx'
import type { ResponseDraft } from './response-draft.ts'

/** The answer to an accepted event. */
export function ResponsePart({
  draft,
  disabled,
  change,
}: {
  readonly draft: ResponseDraft
  readonly disabled: boolean
  readonly change: (part: Partial<ResponseDraft>) => void
}): ReactElement {
  const { status, contentType, body } = draft
  return (
    <Part
      title="Response"
      text="The response to an accepted event, for senders that require a certain one. Duplicates get the same response. Rejected requests do not."
    >
      <Choice
        label="Status"
        disabled={disabled}
        of={[
          { id: 'standard', label: 'Standard' },
          { id: '200', label: '200' },
          { id: '201', label: '201' },
          { id: '202', label: '202' },
          { id: '204', label: '204' },
        ]}
        at={status}
        go={(id) => change({ status: id })}
      />
      {status === 'standard' ? (
        <p className="text-data text-ink-3">201 with the ID of the event as JSON, and 200 for a duplicate.</p>
      ) : (
        <>
          <Field
            label="Content type"
            placeholder={status === '204' ? '' : 'application/json'}
            value={contentType}
            disabled={disabled}
            onChange={({ target }) => change({ contentType: target.value })}
            hint="Such as application/json or text/xml. Leave empty to send none."
            className="mono text-data"
          />
          {status === '204' ? (
            <p className="text-data text-ink-3">A response with the status 204 has no body.</p>
          ) : (
            <TextArea
              label="Body"
              rows={3}
              value={body}
              disabled={disabled}
              onChange={({ target }) => change({ body: target.value })}
              hint="At most 4 KiB. Leave empty to send none."
              className="mono text-data"
            />
          )}
        </>
      )}
    </Part>
  )
}
