import { shellWord } from '@postroad/contract/quoting'
import { withQuery } from '@postroad/contract/sent-again'
import { useState, type ReactElement } from 'react'
import { usePlace } from '../../../data/place.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { cliIn } from '../../../parts/commands.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { curlOf } from './commands.ts'
import { localUrlOf } from './local-url.ts'

const KEY = 'postroad-local-url'
const FIRST_URL = 'http://localhost:3000/webhooks'

type Props = {
  /** The request as it was received. */
  readonly request: {
    readonly query: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  readonly receivedAt: string
  readonly onClose: () => void
}

/** Commands that send this event, or the events since it, to a program on the person's machine, which the server cannot reach. */
export function LocalDialog({ request, receivedAt, onClose }: Props): ReactElement {
  const { project } = usePlace()
  const [text, setText] = useState(() => localStorage.getItem(KEY) ?? FIRST_URL)
  const [at, setAt] = useState<'curl' | 'CLI'>('curl')
  const url = localUrlOf(text)
  const change = (value: string): void => {
    setText(value)
    if (localUrlOf(value) !== undefined) localStorage.setItem(KEY, value)
  }
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title="Send to localhost"
      lead="Run one of these on the machine where your program listens."
      actions={<Button onClick={onClose}>Close</Button>}
    >
      <Field
        label="Your program"
        value={text}
        onChange={({ target }) => change(target.value)}
        hint={
          url === undefined ? 'Enter a port such as 3000, or a URL such as http://localhost:3000/webhooks.' : undefined
        }
      />
      {url !== undefined && (
        <>
          <CodeBlock
            label="Send to localhost"
            of={{
              curl: curlOf({ url: withQuery(url, request.query), headers: request.headers, body: request.body }),
              CLI: cliIn(project, `listen ${shellWord(url)} --since ${shellWord(receivedAt)}`),
            }}
            at={at}
            go={setAt}
          />
          <p className="mt-2 text-data text-ink-3">
            {at === 'curl'
              ? 'It sends this event once. Replace the values that are masked.'
              : 'It forwards this event and all that came after it, then new ones until you stop it.'}
          </p>
        </>
      )}
    </Dialog>
  )
}
