import { useState, type ReactElement } from 'react'
import { sendEvent } from '../../../data/client.ts'
import { useAllWebhooks, type Webhook } from '../../../data/lists.ts'
import { useDestinations } from '../../../data/names.ts'
import { CodeText } from '../../../parts/code-text.tsx'
import { MakeSink } from '../../../parts/make-sink.tsx'
import { useKeys } from '../../../shell/keys.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton, useCopy } from '../../../ui/copy.tsx'
import { Page } from '../../../ui/page.tsx'
import { Loading, Refused, RefusedLine } from '../../../ui/states.tsx'
import { NoEndpoint } from './no-endpoint.tsx'
import { SignedStart } from './signed-start.tsx'
import { COMMANDS, type CommandName } from './commands.ts'
import { SAMPLE_TEXT } from './sample.ts'

const STEPS = [
  { title: 'Capture an event', text: 'Waiting for an event on the line above' },
  { title: 'Read it', text: 'Payload, headers and every hop' },
  { title: 'Route it', text: 'Filter by any field, store it in a dataset' },
  { title: 'Deliver it', text: 'Signed, retried, replayable' },
] as const

type Props = {
  readonly isListening: boolean
  /** The first event has arrived, and moves along the time line. */
  readonly hasArrived: boolean
  readonly onSkip: () => void
}

/** The screen before the first event: the address, the command, and a line on which the first event lands. */
export function FirstRun({ isListening, hasArrived, onSkip }: Props): ReactElement {
  const { data, error, refetch } = useAllWebhooks()
  const webhook = data?.at(-1)
  return (
    <Page
      title="Events"
      actions={
        <>
          <span className="flex h-7 items-center gap-[7px] rounded-button bg-accent-soft px-2.5 font-strong text-accent">
            <i className="size-[7px] rounded-full bg-current" />
            {isListening ? 'Listening' : 'Connecting'}
          </span>
          <Button onClick={onSkip}>Skip setup</Button>
        </>
      }
    >
      <TimeLine hasArrived={hasArrived} />
      {webhook === undefined ? (
        data !== undefined ? (
          <NoEndpoint />
        ) : error === null ? (
          <Loading />
        ) : (
          <Refused error={error} again={refetch} />
        )
      ) : (
        <Start webhook={webhook} hasArrived={hasArrived} />
      )}
    </Page>
  )
}

/** The last minute, with the current moment at its end. */
function TimeLine({ hasArrived }: { readonly hasArrived: boolean }): ReactElement {
  return (
    <div aria-hidden className="border-y border-line bg-sunken px-[72px] pt-[52px] pb-4">
      <div className="relative h-0.5 bg-gradient-to-r from-transparent to-accent">
        {hasArrived && (
          <span className="absolute -inset-y-px inset-x-0 overflow-hidden">
            <i className="absolute inset-0 animate-land bg-gradient-to-r from-transparent from-70% to-accent" />
          </span>
        )}
        <span className="absolute -top-[4px] right-0 size-2.5 rounded-full bg-accent">
          <i className="absolute -inset-[9px] rounded-full bg-accent opacity-15" />
          <i className="absolute -inset-[9px] animate-ping-live rounded-full border-[1.5px] border-accent opacity-35" />
          {hasArrived && <i className="absolute -inset-[14px] animate-land-ring rounded-full border-2 border-accent" />}
        </span>
      </div>
      <div className="mt-3 h-1.5 bg-[repeating-linear-gradient(90deg,var(--line-2)_0_1px,transparent_1px_18px)]" />
      <div className="mono mt-2 flex justify-between text-axis text-ink-3">
        <span>−60 s</span>
        <span>−45</span>
        <span>−30</span>
        <span>−15</span>
        <span className="font-strong text-accent">now</span>
      </div>
    </div>
  )
}

function Start({ webhook, hasArrived }: { readonly webhook: Webhook; readonly hasArrived: boolean }): ReactElement {
  const at = webhook.public_url.lastIndexOf('/') + 1
  return (
    <div className="grid min-h-0 grid-cols-[minmax(0,660px)_280px] justify-center gap-[88px] overflow-y-auto px-8 py-[52px] max-xl:grid-cols-[minmax(0,660px)] max-xl:gap-10">
      <div>
        <h2 className="text-display">{hasArrived ? 'Your first event is here' : 'Send your first event'}</h2>
        <p role="status" className="mt-1 max-w-[52ch] text-lead text-ink-2">
          {hasArrived
            ? 'Postroad stored the event and is delivering it. Opening its path now.'
            : 'This endpoint is live. Run the command in any terminal. The event appears on the line above.'}
        </p>
        <div className="mt-8 flex min-h-10 items-center gap-3 rounded-page border border-line-2 pr-2 pl-3.5">
          <b className="mono text-data font-title text-accent">POST</b>
          <code className="mono min-w-0 flex-1 truncate text-body text-ink-2 max-md:py-2 max-md:break-all max-md:whitespace-normal">
            {webhook.public_url.slice(0, at)}
            <span className="text-ink">{webhook.public_url.slice(at)}</span>
          </code>
          <CopyButton text={webhook.public_url} label="Copy the URL" />
        </div>
        <Command url={webhook.public_url} />
        <SendHere path={webhook.public_path} />
        <DeliverToo />
        <SignedStart />
      </div>
      <Steps hasArrived={hasArrived} />
    </div>
  )
}

function Command({ url }: { readonly url: string }): ReactElement {
  const [name, setName] = useState<CommandName>('curl')
  const copy = useCopy()
  const command = COMMANDS[name](url)
  useKeys({ c: () => void copy(command, 'Command copied') })
  return (
    <div className="mt-3 overflow-hidden rounded-page bg-block text-block-ink">
      <div
        className="flex min-h-10 flex-wrap items-center gap-0.5 border-b border-block-line px-2.5 py-1.5"
        role="group"
        aria-label="Language"
      >
        {Object.keys(COMMANDS).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === name}
            // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key of COMMANDS
            onClick={() => setName(one as CommandName)}
            className="h-7 rounded-row px-2.5 font-control text-block-ink-2 aria-pressed:bg-block-line aria-pressed:text-block-ink"
          >
            {one}
          </button>
        ))}
        <button
          type="button"
          onClick={() => void copy(command, 'Command copied')}
          className="ml-auto flex h-7 items-center gap-2 rounded-button border border-block-line px-2.5 font-control hover:bg-block-line"
        >
          Copy
          <kbd className="mono rounded-chip border border-block-line px-1 text-axis text-block-ink-2 max-md:hidden">
            C
          </kbd>
        </button>
      </div>
      <pre
        tabIndex={0}
        className="mono overflow-x-auto px-5 py-[18px] text-body leading-6 max-md:break-all max-md:whitespace-pre-wrap"
      >
        <CodeText>{command}</CodeText>
      </pre>
    </div>
  )
}

/** The page itself sends the event, as a sender would. */
function SendHere({ path }: { readonly path: string }): ReactElement {
  const [state, setState] = useState<{ readonly isRunning: boolean; readonly error: Error | null }>({
    isRunning: false,
    error: null,
  })
  const send = (): void => {
    setState({ isRunning: true, error: null })
    sendEvent(path, { body: SAMPLE_TEXT, headers: {} }).then(
      () => setState({ isRunning: false, error: null }),
      (error: unknown) =>
        setState({ isRunning: false, error: error instanceof Error ? error : new Error(String(error)) }),
    )
  }
  useKeys({ Enter: send })
  return (
    <div className="mt-5">
      <Button kind="primary" hotkey="↵" disabled={state.isRunning} onClick={send} className="h-8">
        Send it from here
      </Button>
      <div className="mt-3">
        <RefusedLine error={state.error} />
      </div>
    </div>
  )
}

/** With a destination the first event is delivered as well. */
function DeliverToo(): ReactElement | null {
  const { all, isKnown } = useDestinations()
  const [first] = all
  if (!isKnown) return null
  return (
    <section aria-label="Deliver the event too" className="mt-6 flex flex-wrap items-center gap-x-4 gap-y-2">
      {first === undefined ? (
        <>
          <MakeSink />
          <p className="max-w-[52ch] text-ink-3">Create a destination on this server to receive your first event.</p>
        </>
      ) : (
        <p role="status" className="text-ink-2">
          Your first event is delivered to {first.name} too.
        </p>
      )}
    </section>
  )
}

function Steps({ hasArrived }: { readonly hasArrived: boolean }): ReactElement {
  const here = hasArrived ? 1 : 0
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(location.hostname)
  return (
    <aside className="pt-1 max-xl:hidden">
      <h3 className="mb-4 font-control text-ink-3">From here</h3>
      <ol className="relative">
        {STEPS.map(({ title, text }, index) => (
          <li
            key={title}
            className="relative pb-5 pl-[27px] not-last:before:absolute not-last:before:top-3.5 not-last:before:bottom-[-6px] not-last:before:left-[7px] not-last:before:w-px not-last:before:bg-line-2"
          >
            <i
              aria-hidden
              className={`absolute top-[3px] left-0 size-[15px] rounded-full border bg-surface ${index === here ? 'border-accent shadow-[inset_0_0_0_3.5px_var(--surface),inset_0_0_0_8px_var(--accent)]' : 'border-line-2'}`}
            />
            <b className={`block font-strong ${index === here ? '' : 'text-ink-2'}`}>{title}</b>
            <span className={index === here ? 'text-accent' : 'text-ink-3'}>
              {hasArrived && index === 0 ? 'The event has arrived' : text}
            </span>
          </li>
        ))}
      </ol>
      {isLocal && (
        <p className="mt-2 border-t border-line pt-5 text-ink-3">
          Everything stays on this machine. Set a password under Account before you share this address.
        </p>
      )}
    </aside>
  )
}
