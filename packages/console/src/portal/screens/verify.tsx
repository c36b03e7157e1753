import { useState, type ReactElement } from 'react'
import { SNIPPETS, type Language } from '../../ui/verify-snippets.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Part } from '../ui/states.tsx'

/** Programs that check the signature of an event. */
export function VerifyPart(): ReactElement {
  const [language, setLanguage] = useState<Language>('Node')
  const names = Object.keys(SNIPPETS).filter((name): name is Language => name in SNIPPETS)
  return (
    <Part
      title="Verify events"
      text={
        <>
          Verify the raw body before you parse it. The headers are <Code>webhook-id</Code>,{' '}
          <Code>webhook-timestamp</Code> and <Code>webhook-signature</Code>, as in Standard Webhooks.
        </>
      }
    >
      <div role="group" aria-label="Verify events" className="overflow-hidden rounded-field bg-block text-block-ink">
        <div className="flex min-h-11 flex-wrap items-center gap-1 border-b border-block-line px-2 py-1">
          {names.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === language}
              onClick={() => setLanguage(name)}
              className="min-h-7 rounded-row px-2.5 text-body font-control text-block-ink-2 outline-offset-[-2px] hover:text-block-ink aria-pressed:bg-block-line aria-pressed:text-block-ink"
            >
              {name}
            </button>
          ))}
          <span className="ml-auto [&_button]:min-h-7 [&_button]:border-block-line [&_button]:bg-transparent [&_button]:text-body [&_button]:text-block-ink [&_button]:hover:bg-block-line">
            <CopyButton text={SNIPPETS[language]} of="the program" />
          </span>
        </div>
        <pre tabIndex={0} className="mono max-h-80 overflow-auto px-4 py-3 text-data outline-offset-[-2px]">
          {SNIPPETS[language]}
        </pre>
      </div>
    </Part>
  )
}

function Code({ children }: { readonly children: string }): ReactElement {
  return <code className="mono text-body whitespace-nowrap text-ink-2">{children}</code>
}
