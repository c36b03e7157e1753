import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useMay } from '../../../data/place.ts'
import type { Forwarder } from '../../../data/serving-lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { CopyMeta, Facts, Part } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Chip } from '../../../ui/glyph.tsx'
import { Countdown, span, Time } from '../../../ui/time.tsx'
import { useForwarderPresets } from './create-dialog.tsx'
import { draftOfForwarder, forwarderBodyOf, forwarderLight, SIGNALS } from './draft.ts'
import { ContentFields, ReceiverFields } from './form.tsx'
import { TestPart } from './test-part.tsx'

const TABS = [
  { id: 'status', label: 'Status', of: StatusTab },
  { id: 'settings', label: 'Settings', of: SettingsTab },
] as const

type TabProps = { readonly forwarder: Forwarder }

/** One forwarder: the position of each signal, and its settings. */
export function ForwarderDetail({
  row: forwarder,
  onClose,
}: {
  readonly row: Forwarder
  readonly onClose: () => void
}): ReactElement {
  const may = useMay(routes.forwarders.update)
  const { of: Tab } = useTab(TABS)
  const { id, name, endpoint, enabled } = forwarder
  const { tone, word, text } = forwarderLight(forwarder)
  return (
    <ResourceDetail
      label="Forwarder"
      name={name}
      path={`forwarders/${id}`}
      chip={
        <span title={text}>
          <Chip tone={tone}>{word}</Chip>
        </span>
      }
      onClose={onClose}
      meta={
        <>
          <span className="mono max-w-[46ch] truncate">{endpoint}</span>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <Switch
          enabled={enabled}
          route={routes.forwarders.update}
          rooms={['forwarders']}
          set={(client, on) => client.forwarders.update({ id, enabled: on })}
          titles={{
            off: 'The forwarder stops sending and retains its positions',
            on: 'The forwarder continues from its positions',
          }}
          said={{
            off: 'Turned off. The forwarder retains its positions.',
            on: 'Turned on. The forwarder continues from its positions.',
          }}
        />
      }
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        text: 'Postroad deletes the stored headers and positions. A new forwarder sends only data from after its creation.',
        may,
        rooms: ['forwarders'],
        run: (client) => client.forwarders.remove({ id }),
      }}
    >
      <Tab forwarder={forwarder} />
    </ResourceDetail>
  )
}

function StatusTab({ forwarder: { progress } }: TabProps): ReactElement {
  return (
    <>
      {SIGNALS.map((signal) => (
        <Part key={signal} title={signal === 'logs' ? 'Logs' : 'Traces'}>
          <Signal of={progress[signal]} />
        </Part>
      ))}
    </>
  )
}

/** How far one signal has been sent, its gap to now, and the loss. */
function Signal({ of }: { readonly of: Forwarder['progress']['logs'] }): ReactElement {
  if (of === null) return <p className="text-ink-3">This forwarder does not send them.</p>
  const { last_error, expired, refused, refused_text, lost_at, failures, failing_since, next_try_at } = of
  return (
    <>
      {last_error !== null && (
        <div role="alert" className="mb-3 rounded-field bg-fail-soft px-3 py-2 text-fail">
          <p className="break-words">{last_error.error}</p>
          <p className="text-data">
            <span className="mono">{last_error.reason}</span>. {counted(failures, 'failed attempt', 'failed attempts')}{' '}
            in a row
            {failing_since === null ? (
              ''
            ) : (
              <>
                , the first <Ago at={failing_since} />
              </>
            )}
            .
            {next_try_at === null ? (
              ''
            ) : (
              <>
                {' '}
                The next attempt is <Countdown to={next_try_at} />.
              </>
            )}
          </p>
        </div>
      )}
      <Facts
        of={[
          // Before the first accepted request, the position is the time at which the forwarder started.
          ['Sent up to', of.last_success_at === null ? 'Nothing sent yet' : <Time key="until" at={of.sent_until} />],
          ['Lag', span(of.lag_seconds * 1_000)],
          ['Sent', of.sent.toLocaleString('en')],
          ['Last accepted', of.last_success_at === null ? 'never' : <Ago key="success" at={of.last_success_at} />],
          [
            'Lost: erased before sending',
            expired === 0 ? (
              'none'
            ) : (
              <span key="expired" className="text-fail">
                {expired.toLocaleString('en')}
              </span>
            ),
          ],
          [
            'Lost: rejected by the receiver',
            refused === 0 ? (
              'none'
            ) : (
              <span key="refused" className="text-fail">
                {refused.toLocaleString('en')}
                {refused_text !== null && `: ${refused_text}`}
              </span>
            ),
          ],
          ...(lost_at === null ? [] : [['Last loss', <Ago key="lost" at={lost_at} />] as const]),
        ]}
      />
    </>
  )
}

function SettingsTab({ forwarder }: TabProps): ReactElement {
  const preset = useForwarderPresets().data?.find(({ id }) => id === forwarder.preset)
  const form = useSaveForm({
    held: draftOfForwarder(forwarder),
    read: forwarderBodyOf,
    route: routes.forwarders.update,
    rooms: ['forwarders'],
    send: (client, body) => client.forwarders.update({ id: forwarder.id, ...body }),
    countsFrom: 'the next batch. The forwarder retains its positions',
  })
  const fields = fieldsOf(form)
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Receiver" text="If you change the endpoint origin, enter the header values again.">
        <ReceiverFields {...fields} preset={preset} />
        <TestPart draft={form.draft} forwarderId={forwarder.id} />
      </Part>
      <Part title="Data to send">
        <ContentFields {...fields} />
      </Part>
    </SaveForm>
  )
}
