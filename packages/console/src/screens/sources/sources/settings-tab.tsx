import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { CronTrigger, Source, WsTrigger } from '../../../data/source-lists.ts'
import { Part } from '../../../parts/detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { CronFields, cronBodyOf, draftOfCron } from './cron-form.tsx'
import { bodyOf, draftOfSource } from './draft.ts'
import { SamplePart } from './sample-part.tsx'
import { KindFields, NameFields } from './source-fields.tsx'
import { draftOfWs, wsBodyOf, WsFields } from './ws-form.tsx'

/** The settings whose change makes a source start over; undefined: none does. */
const STARTS_OVER: Readonly<Record<Source['settings']['kind'], string | undefined>> = {
  postgres: 'the server, database, cursor, key or start',
  mysql: 'the server, database, cursor, key or start',
  postgres_replication: undefined,
  http_poll: 'the URL or the cursor',
  sse: 'the URL',
}

function continuationText(kind: Source['settings']['kind']): string {
  const settings = STARTS_OVER[kind]
  return settings === undefined
    ? 'After a change, the source continues from its position.'
    : `If you change ${settings}, the source starts over. Otherwise, it continues from its position.`
}

export function SourceSettingsForm({ source }: { readonly source: Source }): ReactElement {
  const form = useSaveForm({
    held: draftOfSource(source),
    read: bodyOf,
    route: routes.sources.update,
    rooms: ['sources'],
    send: (client, body) => client.sources.update({ id: source.id, ...body }),
    countsFrom: 'the next run',
  })
  const fields = fieldsOf(form)
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="What it reads" text={continuationText(source.settings.kind)}>
        <KindFields {...fields} isHeld />
        <SamplePart draft={form.draft} sourceId={source.id} />
      </Part>
      <Part title="Events">
        <NameFields {...fields} />
      </Part>
    </SaveForm>
  )
}

export function CronSettings({ cron }: { readonly cron: CronTrigger }): ReactElement {
  const form = useSaveForm({
    held: draftOfCron(cron),
    read: cronBodyOf,
    route: routes.cronTriggers.update,
    rooms: ['sources'],
    send: (client, body) => client.cronTriggers.update({ id: cron.id, ...body }),
    countsFrom: 'the next scheduled time',
  })
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Schedule">
        <CronFields {...fieldsOf(form)} />
      </Part>
    </SaveForm>
  )
}

export function WsSettings({ socket }: { readonly socket: WsTrigger }): ReactElement {
  const form = useSaveForm({
    held: draftOfWs(socket),
    read: wsBodyOf,
    route: routes.wsTriggers.update,
    rooms: ['sources'],
    send: (client, body) => client.wsTriggers.update({ id: socket.id, ...body }),
    countsFrom: 'now: Postroad connects again',
  })
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Socket" text="If you change the URL origin, enter the header values and messages again.">
        <WsFields {...fieldsOf(form)} />
      </Part>
    </SaveForm>
  )
}
