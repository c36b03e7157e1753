import { routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import { CodeText } from '../../../parts/code-text.tsx'
import { createBodyOf, createDraftOf, shortNameOf, SIGNED_SENDERS, type SignedSender } from '../../../parts/senders.ts'
import { Button } from '../../../ui/button.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { Field } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { newSecret, signedCurl } from './signed-commands.ts'

type Made = { readonly url: string; readonly secret: string }

/** For a known sender: an endpoint that checks its signatures, and a command that signs as the sender does. */
export function SignedStart(): ReactElement {
  const [sender, setSender] = useState<SignedSender | undefined>()
  return (
    <section aria-label="Signature check" className="mt-10 border-t border-line pt-6">
      <h3 className="font-control text-ink-2">Already have a sender? Start with signature verification</h3>
      <div className="mt-3 flex flex-wrap gap-1.5" role="group" aria-label="Sender">
        {SIGNED_SENDERS.map((one) => (
          <button
            key={one.id}
            type="button"
            aria-pressed={one === sender}
            onClick={() => setSender(one === sender ? undefined : one)}
            className="h-7 rounded-row border border-line bg-sunken px-2.5 font-control text-ink-2 hover:bg-hover aria-pressed:border-accent-line aria-pressed:bg-accent-soft aria-pressed:text-accent"
          >
            {shortNameOf(one)}
          </button>
        ))}
      </div>
      {sender !== undefined && <Start key={sender.id} sender={sender} />}
    </section>
  )
}

function Start({ sender }: { readonly sender: SignedSender }): ReactElement {
  const [secret, setSecret] = useState(() => newSecret(sender.verification.scheme))
  const [made, setMade] = useState<Made | undefined>()
  const refusal = useRefusal(routes.webhooks.create)
  const may = refusal === undefined
  const make = useChange(['webhooks'], (client) => client.webhooks.create(bodyOf(sender, secret)))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    make.mutate(undefined, { onSuccess: ({ webhook }) => setMade({ url: webhook.public_url, secret }) })
  }
  if (made !== undefined) return <Ready made={made} sender={sender} />
  return (
    <form onSubmit={submit} className="mt-4">
      <p className="mb-2 max-w-[62ch] text-ink-3">{sender.setup}</p>
      <Field
        label="Secret"
        value={secret}
        required
        maxLength={200}
        pattern="[^'\s]+"
        title="No spaces or single quotes"
        autoComplete="off"
        spellCheck={false}
        className="mono text-data"
        onChange={({ target }) => setSecret(target.value)}
        hint="A random secret. If your sender gives you a secret, enter that one instead."
      />
      <RefusedLine error={make.error} />
      <Button type="submit" className="mt-1" disabled={!may || make.isPending} title={refusal}>
        Create the endpoint
      </Button>
    </form>
  )
}

/** The same endpoint that the list of endpoints makes for this sender; its name contains the date. */
function bodyOf(sender: SignedSender, secret: string): ReturnType<typeof createBodyOf> {
  const draft = createDraftOf(sender)
  return createBodyOf(sender, {
    ...draft,
    name: `${shortNameOf(sender)} ${new Date().toISOString().slice(0, 19)}`,
    verification: { ...draft.verification, secret },
  })
}

/** Only this page shows the secret: no answer of the server contains it. */
function Ready({
  made: { url, secret },
  sender,
}: {
  readonly made: Made
  readonly sender: SignedSender
}): ReactElement {
  const copy = useCopy()
  const command = signedCurl({ sender, url, secret })
  return (
    <div className="mt-4">
      <p role="status" className="mb-2 max-w-[62ch] text-ink-2">
        The endpoint is ready. It accepts only signed requests. This command signs as the sender does. {sender.setup}
      </p>
      <div className="relative overflow-hidden rounded-page bg-block text-block-ink">
        <button
          type="button"
          onClick={() => void copy(command, 'Command copied')}
          className="absolute top-2 right-2 h-7 rounded-button border border-block-line bg-block px-2.5 font-control hover:bg-block-line"
        >
          Copy the signed command
        </button>
        <pre
          tabIndex={0}
          aria-label="Signed command"
          className="mono overflow-x-auto px-5 pt-11 pb-4 text-data leading-6"
        >
          <CodeText>{command}</CodeText>
        </pre>
      </div>
    </div>
  )
}
