import { routes, TITLE_HEADERS } from '@postroad/contract'
import { withQuery } from '@postroad/contract/sent-again'
import { useState, type ReactElement } from 'react'
import { sendEvent } from '../../../data/client.ts'
import type { Webhook } from '../../../data/lists.ts'
import { useWebhooks } from '../../../data/names.ts'
import { useClient, usePlace, useRefusal } from '../../../data/place.ts'
import { CopyMenu } from '../../../parts/copy-as.tsx'
import { Button } from '../../../ui/button.tsx'
import { COMMAND_KEY } from '../../../ui/command-key.ts'
import { useCopy } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Select } from '../../../ui/field.tsx'
import { JsonField } from '../../../ui/json-field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { curlOf, sendCommand } from './commands.ts'
import { SAMPLE_TEXT } from './sample.ts'

/** `headers` are those of the event that is sent again; only its title is reused. */
export type Draft = {
  readonly body: string
  readonly webhookId: string | null
  /** The query string of the event that is sent again, without masked values. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
}

/** Sends an event to an endpoint, as a sender does: an example, or an edited copy of an event. The server signs it for an endpoint that checks signatures. */
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
  const client = useClient()
  const { project } = usePlace()
  const refusal = useRefusal(routes.webhooks.signSample)
  const copy = useCopy()
  const webhook = all.find(({ id }) => id === chosen) ?? all.at(-1)
  const problem = problemOf(body)
  const signing = webhook === undefined ? undefined : signingOf(webhook, refusal)
  const canSend = webhook !== undefined && problem === undefined && signing?.isPossible === true && !state.isRunning
  const attempt = async (
    work: (at: Webhook, headers: Readonly<Record<string, string>>) => Promise<void>,
  ): Promise<void> => {
    if (webhook === undefined || !canSend) return
    setState({ isRunning: true, error: null })
    try {
      const titled = titleHeaders(draft.headers, webhook)
      const { headers } = signing.isNeeded
        ? await client.webhooks.signSample({ id: webhook.id, body, query: draft.query })
        : { headers: {} }
      await work(webhook, { ...titled, ...headers })
      setState({ isRunning: false, error: null })
    } catch (error) {
      setState({ isRunning: false, error: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  const send = (): Promise<void> =>
    attempt(async ({ public_path }, headers) => {
      onSent(await sendEvent(withQuery(public_path, draft.query), { body, headers }))
      onClose()
    })
  const copyCurl = (): Promise<void> =>
    attempt(async ({ public_url }, headers) => {
      const url = withQuery(public_url, draft.query)
      await copy(
        curlOf({ url, headers: { ...headers, 'content-type': 'application/json' }, body }),
        signing?.isNeeded === true ? 'Copied as curl, with its signature' : 'Copied as curl',
      )
    })
  const copies = [
    { label: 'Copy as curl', disabled: !canSend, go: () => void copyCurl() },
    {
      label: 'Copy as a CLI command',
      disabled: !canSend,
      go: () => {
        if (webhook === undefined) return
        const secret = signing?.isNeeded === true ? '. Set SECRET to the secret of the endpoint.' : ''
        void copy(sendCommand({ webhook, project, body }), `Copied as CLI command${secret}`)
      },
    },
  ]
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={draft.body === '' ? 'Send an event' : 'Edit and send again'}
      lead="Your browser sends this event to the endpoint, and Postroad handles it like any other event."
      actions={
        <>
          <CopyMenu className="mr-auto" items={copies} />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!canSend} onClick={() => void send()}>
            Send
          </Button>
        </>
      }
    >
      {/* The dialog asks before it discards the edits of a form. */}
      <form onSubmit={(event) => event.preventDefault()}>
        <Select
          label="Endpoint"
          value={webhook?.id ?? ''}
          onChange={({ target }) => setChosen(target.value)}
          hint={signing?.hint}
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
          hint={problem ?? `Press ${COMMAND_KEY} Enter to send.`}
          onSubmit={() => void send()}
        />
      </form>
      <RefusedLine error={state.error} />
    </Dialog>
  )
}

type Signing = { readonly isNeeded: boolean; readonly isPossible: boolean; readonly hint: string | undefined }

function signingOf({ verification }: Webhook, refusal: string | undefined): Signing {
  if (verification.scheme === 'none') return { isNeeded: false, isPossible: true, hint: undefined }
  if (verification.has_secret !== true)
    return {
      isNeeded: true,
      isPossible: false,
      hint: 'This endpoint has no secret yet, so the server cannot sign events for it. Set the secret first.',
    }
  return refusal === undefined
    ? { isNeeded: true, isPossible: true, hint: 'The server signs the event with the secret of this endpoint.' }
    : { isNeeded: true, isPossible: false, hint: `The event must be signed. ${refusal}` }
}

/** The headers that name an event; dots replace a credential. */
function titleHeaders(headers: Draft['headers'], { event_title }: Webhook): Record<string, string> {
  const own = event_title !== null && 'header' in event_title ? [event_title.header.toLowerCase()] : []
  return Object.fromEntries(
    [...own, ...TITLE_HEADERS].flatMap((name) => {
      const value = headers[name]
      return value === undefined || value.includes('•') ? [] : [[name, value]]
    }),
  )
}

/** Indents a text if that changes nothing else, such as the digits of long numbers. */
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
    return `This is not valid JSON: ${error instanceof Error ? error.message : 'it cannot be read'}`
  }
}
