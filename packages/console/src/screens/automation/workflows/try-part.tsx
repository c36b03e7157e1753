import type { ReactElement } from 'react'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { RecordChoice } from '../../../parts/record-choice.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { SaidBy } from '../../../ui/states.tsx'
import type { WholeWorkflow } from './definition.ts'
import type { Try } from './use-try.ts'

/** The record or payload on which the draft is tried, and whether it starts a run. */
export function TryPart({
  tried,
  workflow,
  dataset,
  hasFault,
}: {
  readonly tried: Try
  readonly workflow: WholeWorkflow
  readonly dataset: string
  /** The fault is shown at its step. */
  readonly hasFault: boolean
}): ReactElement {
  const { result, refused } = tried
  return (
    <section aria-label="Try" className="border-b border-line px-5 py-3 max-md:px-3">
      <div className="mx-auto max-w-[820px]">
        <div className="flex flex-wrap items-end gap-x-3">
          <div className="min-w-[220px] flex-1">
            <RecordChoice
              label="Test with"
              dataset={dataset}
              at={tried.recordId}
              go={tried.setRecordId}
              none="Custom payload"
            />
          </div>
          <div className="mb-3.5">
            <CopyAs
              call={
                tried.body === undefined ? undefined : { method: 'POST', path: 'workflows/dry-run', body: tried.body }
              }
            />
          </div>
        </div>
        {tried.recordId === '' && (
          <TextArea
            label="Payload"
            rows={3}
            value={tried.payload}
            aria-invalid={tried.body === undefined}
            onChange={({ target }) => tried.setPayload(target.value)}
            hint={
              tried.body === undefined ? 'This is not valid JSON.' : 'JSON, in the format of a record in the dataset.'
            }
          />
        )}
        <p role="status" className="flex min-h-6 flex-wrap items-center gap-2 text-ink-2">
          {refused !== null ? (
            hasFault ? (
              <span className="text-fail">The definition has an error. See the step with the error.</span>
            ) : (
              <>
                <span className="text-fail">{refused.message}</span>
                <SaidBy error={refused} />
              </>
            )
          ) : result === undefined ? (
            'Testing…'
          ) : (
            <>
              <Chip tone={result.starts ? 'ok' : 'rejected'}>
                {result.starts ? 'This record starts a run' : 'This record does not start a run'}
              </Chip>
              {result.failed !== null && (
                <span>
                  <span className="mono">{result.failed.path}</span> is {JSON.stringify(result.failed.saw) ?? 'missing'}
                  .
                </span>
              )}
              {!result.starts && result.failed === null && `The record is not in ${dataset || 'the dataset'}.`}
              {!result.starts && <span className="text-ink-3">The steps show what a manual run would do.</span>}
              {!workflow.active && <span className="text-ink-3">The workflow is off.</span>}
              <span className="text-ink-3">Nothing is stored or sent.</span>
            </>
          )}
        </p>
      </div>
    </section>
  )
}
