import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Glyph, type Tone } from '../ui/glyph.tsx'

type Explanation = RouteAnswer<Routes['webhooks']['verifySample']>

/** The steps of a signature check, the one that failed, and hints for a person. */
export function SignatureSteps({ of: { steps, hints } }: { readonly of: Explanation }): ReactElement {
  return (
    <>
      <ol aria-label="Steps">
        {steps.map(({ step, ok, text }) => (
          <li
            key={step}
            className="grid min-h-8 grid-cols-[14px_84px_minmax(0,1fr)] items-center gap-2.5 border-b border-line/55 py-1"
          >
            <Glyph tone={glyphOf(ok)} label={ok === null ? 'not checked' : ok ? 'right' : 'wrong'} />
            <b className="font-control">{step}</b>
            <span className={ok === false ? 'text-fail' : 'text-ink-2'}>{text}</span>
          </li>
        ))}
      </ol>
      {hints.length > 0 && (
        <ul className="mt-3 list-disc pl-5 text-ink-2">
          {hints.map((hint) => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      )}
    </>
  )
}

function glyphOf(ok: boolean | null): Tone {
  if (ok === null) return 'none'
  return ok ? 'ok' : 'fail'
}
