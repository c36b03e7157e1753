import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllAgents, type AiTrigger } from '../../../data/automation-lists.ts'
import { To } from '../../../data/go.tsx'
import { useMay } from '../../../data/place.ts'
import { CopyMeta, Part } from '../../../parts/detail.tsx'
import { ResourceDetail } from '../../../parts/resource-detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { draftOfTrigger, triggerBodyOf, triggerLight } from './draft.ts'
import { TriggerFields } from './form.tsx'

const TABS = [{ id: 'settings', label: 'Settings' }] as const

/** One trigger: its conditions, its agent and the place of the output. */
export function TriggerDetail({
  row: trigger,
  onClose,
}: {
  readonly row: AiTrigger
  readonly onClose: () => void
}): ReactElement {
  const may = useMay(routes.triggers.update)
  const { id, name, active, agent_id } = trigger
  const agent = useAllAgents().data?.find((one) => one.id === agent_id)
  const { tone, word } = triggerLight(trigger)
  return (
    <ResourceDetail
      label="Trigger"
      name={name}
      path={`triggers/${id}`}
      chip={<Chip tone={tone}>{word}</Chip>}
      onClose={onClose}
      meta={
        <>
          <To
            screen="agents"
            search={{ sel: agent_id }}
            className="inline-flex min-h-6 items-center text-accent underline"
          >
            {agent?.name ?? agent_id}
          </To>
          <To
            screen="ai-runs"
            search={{ trigger: id }}
            className="inline-flex min-h-6 items-center text-accent underline"
          >
            Show runs
          </To>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <Switch
          enabled={active}
          route={routes.triggers.update}
          rooms={['triggers']}
          set={(client, on) => client.triggers.update({ id, active: on })}
          titles={{ off: 'Records stop starting runs', on: 'Each matching record starts a run' }}
          said={{
            off: 'Turned off. Records do not start runs. Runs in progress continue.',
            on: 'Turned on. Each matching record starts a run.',
          }}
        />
      }
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        text: 'Runs in progress continue.',
        may,
        rooms: ['triggers'],
        run: (client) => client.triggers.remove({ id }),
      }}
    >
      <Settings trigger={trigger} />
    </ResourceDetail>
  )
}

function Settings({ trigger }: { readonly trigger: AiTrigger }): ReactElement {
  const form = useSaveForm({
    held: draftOfTrigger(trigger),
    read: triggerBodyOf,
    route: routes.triggers.update,
    rooms: ['triggers'],
    send: (client, body) => client.triggers.update({ id: trigger.id, ...body }),
    countsFrom: 'the next record',
  })
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Trigger">
        <TriggerFields {...fieldsOf(form)} />
      </Part>
    </SaveForm>
  )
}
