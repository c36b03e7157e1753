import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../data/ask.ts'
import { Button } from '../ui/button.tsx'
import { TextArea } from '../ui/field.tsx'
import { JsonField } from '../ui/json-field.tsx'
import { Glyph, type Standing } from '../ui/glyph.tsx'
import { RefusedLine } from '../ui/states.tsx'

/** Says step by step what an endpoint makes of the signature of a request that is pasted here. */
export function SignatureTester({ webhookId }: { readonly webhookId: string }): ReactElement {
  const [headers, setHeaders] = useState('')
  const [body, setBody] = useState('')
  const test = useChange([], (client) =>
    client.webhooks.verifySample({ id: webhookId, headers: headersIn(headers), body }),
  )
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    test.mutate(undefined)
  }
  const said = test.data
  return (
    <form onSubmit={submit} aria-label="Signature tester">
      <TextArea
        label="Headers"
        rows={4}
        required
        placeholder={'X-Hub-Signature-256: sha256=…\nContent-Type: application/json'}
        value={headers}
        onChange={({ target }) => setHeaders(target.value)}
        hint="One a line, as they came."
      />
      <JsonField
        label="Body"
        rows={6}
        checksJson={false}
        value={body}
        change={setBody}
        hint="Byte for byte as it was sent: a space more or less is another signature."
      />
      <RefusedLine error={test.error} />
      <Button type="submit" className="mt-1" disabled={test.isPending}>
        Test the signature
      </Button>
      {said !== undefined && (
        <div role="status" className="mt-4">
          <p className="mb-2 text-lead font-control">
            {said.ok
              ? `It passes${said.matched_secret === 'previous' ? ', by the previous secret' : ''}.`
              : `It is refused: ${said.reason?.replaceAll('_', ' ') ?? 'it does not match'}.`}
          </p>
          <ol aria-label="Steps">
            {said.steps.map(({ step, ok, text }) => (
              <li
                key={step}
                className="grid min-h-8 grid-cols-[14px_84px_minmax(0,1fr)] items-center gap-2.5 border-b border-line/55"
              >
                <Glyph standing={glyphOf(ok)} label={ok === null ? 'not looked at' : ok ? 'right' : 'wrong'} />
                <b className="font-control">{step}</b>
                <span className={ok === false ? 'text-fail' : 'text-ink-2'}>{text}</span>
              </li>
            ))}
          </ol>
          {said.hints.length > 0 && (
            <ul className="mt-3 list-disc pl-5 text-ink-2">
              {said.hints.map((hint) => (
                <li key={hint}>{hint}</li>
              ))}
            </ul>
          )}
        </div>
      )}
    </form>
  )
}

function glyphOf(ok: boolean | null): Standing {
  if (ok === null) return 'none'
  return ok ? 'ok' : 'fail'
}

function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.indexOf(':') > 0)
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]),
  )
}
