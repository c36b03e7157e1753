import type { ReactElement } from 'react'
import type { Sender } from '../../../parts/senders.ts'

/** The steps at the sender, and where they were read. */
export function SenderSteps({
  sender: { setup, steps = [setup], docsUrl },
}: {
  readonly sender: Sender
}): ReactElement {
  return (
    <div className="mt-1.5 text-ink-2">
      {steps.length === 1 ? (
        <p>{steps[0]}</p>
      ) : (
        <ul aria-label="Steps at the sender" className="list-disc pl-5">
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ul>
      )}
      {docsUrl !== undefined && (
        <a href={docsUrl} target="_blank" rel="noreferrer" className="text-accent hover:underline">
          Sender documentation
        </a>
      )}
    </div>
  )
}
