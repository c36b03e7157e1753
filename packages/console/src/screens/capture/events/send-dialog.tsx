import { useState, type ReactElement } from 'react'
import { sendEvent } from '../../../data/client.ts'
import { useWebhooks } from '../../../data/names.ts'
import { Button } from '../../../ui/button.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Select } from '../../../ui/field.tsx'
import { JsonField } from '../../../ui/json-field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { curlOf } from './commands.ts'
import { SAMPLE_TEXT } from './sample.ts'

export type Draft = { readonly body: string; readonly webhookId: string | null }

/** Sends an event to an endpoint, as a sender would: an example, or one that came, changed. */
export function SendDialog({
  draft,
  onClose,
  onSent,
}: {
  readonly draft: Draft
  readonly onClose: () => void
  readonly onSent: (submissionId: string) => void
}): ReactElement {
  const { all } = useWebhooks()
  const [body, setBody] = useState(() => indented(draft.body === '' ? SAMPLE_TEXT : draft.body))
  const [chosen, setChosen] = useState(draft.webhookId)
  const [state, setState] = useState<{ readonly isRunning: boolean; readonly error: Error | null }>({
    isRunning: false,
    error: null,
  })
  const copy = useCopy()
  const webhook = all.find(({ id }) => id === chosen) ?? all.at(-1)
  const problem = problemOf(body)
  const send = async (): Promise<void> => {
    if (webhook === undefined || problem !== undefined) return
    setState({ isRunning: true, error: null })
    try {
      onSent(await sendEvent(webhook.public_path, body))
      onClose()
    } catch (error) {
      setState({ isRunning: false, error: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={draft.body === '' ? 'Send an event' : 'Edit and send again'}
      lead="It is sent from this page to the endpoint, and is an event like any other."
      actions={
        <>
          <Button
            kind="quiet"
            className="mr-auto"
            disabled={webhook === undefined}
            onClick={() =>
              webhook !== undefined &&
              void copy(
                curlOf({ url: webhook.public_url, headers: { 'content-type': 'application/json' }, body }),
                'Copied as curl',
              )
            }
          >
            Copy as curl
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={webhook === undefined || problem !== undefined || state.isRunning}
            onClick={() => void send()}
          >
            Send
          </Button>
        </>
      }
    >
      <Select
        label="Endpoint"
        value={webhook?.id ?? ''}
        onChange={({ target }) => setChosen(target.value)}
        hint={
          webhook !== undefined && webhook.verification.scheme !== 'none'
            ? 'This endpoint checks signatures, and this page does not sign: the event will be refused.'
            : undefined
        }
      >
        {all.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <JsonField
        label="Body"
        rows={14}
        value={body}
        change={setBody}
        hint={problem ?? 'JSON. ⌘ Enter sends.'}
        onSubmit={() => void send()}
      />
      <RefusedLine error={state.error} />
    </Dialog>
  )
}

/** Indented when that changes nothing else: numbers of many digits stay as they are. */
function indented(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text.replaceAll(/\s/g, '') || JSON.stringify(value) === text
      ? JSON.stringify(value, null, 2)
      : text
  } catch {
    return text
  }
}

function problemOf(body: string): string | undefined {
  try {
    JSON.parse(body)
    return undefined
  } catch (error) {
    return `This is not JSON yet: ${error instanceof Error ? error.message : 'it cannot be read'}`
  }
}
