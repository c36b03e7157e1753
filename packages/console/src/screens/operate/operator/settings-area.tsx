import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { Choice } from '../../../parts/choice.tsx'
import { Part } from '../../../parts/detail.tsx'
import { planText } from '../../../parts/plan-text.ts'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Check, Field, Select } from '../../../ui/field.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Time } from '../../../ui/time.tsx'
import { Area, type AreaProps } from './area.tsx'

type Settings = RouteAnswer<Routes['platformSettings']['get']>['settings']

type Draft = {
  readonly supportContact: string
  readonly workspaceCreation: Settings['workspace_creation']
  readonly defaultPlan: string
  readonly agentRegistration: boolean
  readonly perDay: string
  readonly termsVersion: string
  readonly termsUrl: string
}

function draftOf(of: Settings): Draft {
  return {
    supportContact: of.support_contact ?? '',
    workspaceCreation: of.workspace_creation,
    defaultPlan: of.default_plan ?? '',
    agentRegistration: of.agent_registration,
    perDay: String(of.agent_registrations_per_day),
    termsVersion: of.terms_version,
    termsUrl: of.terms_url ?? '',
  }
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

function bodyOf(draft: Draft) {
  const perDay = Number(draft.perDay)
  if (!Number.isInteger(perDay) || perDay < 0 || perDay > LIMITS.agentRegistrationsPerDayMax)
    return {
      problem: `Registrations per day must be a whole number up to ${LIMITS.agentRegistrationsPerDayMax.toLocaleString('en')}.`,
    }
  if (draft.termsVersion.trim() === '') return { problem: 'Enter a Terms version.' }
  return {
    body: {
      support_contact: orNull(draft.supportContact),
      workspace_creation: draft.workspaceCreation,
      default_plan: orNull(draft.defaultPlan),
      agent_registration: draft.agentRegistration,
      agent_registrations_per_day: perDay,
      terms_version: draft.termsVersion.trim(),
      terms_url: orNull(draft.termsUrl),
    },
  }
}

type Body = Exclude<ReturnType<typeof bodyOf>['body'], undefined>

/** The settings that operators change while the server runs. */
export function PlatformSettingsArea({ views }: AreaProps): ReactElement {
  const items = useCopyItemsOf()
  const asked = useAsk(['platformSettings'], (client, signal) => client.platformSettings.get(undefined, { signal }))
  return (
    <Area
      views={views}
      label="Settings"
      asked={asked}
      actions={<MoreMenu items={items({ route: routes.platformSettings.get })} />}
      foot={
        asked.data !== undefined &&
        asked.data.settings.updated_at !== null && (
          <span>
            Changed <Time at={asked.data.settings.updated_at} />
          </span>
        )
      }
    >
      {({ settings }) => <Form of={settings} />}
    </Area>
  )
}

function Form({ of }: { readonly of: Settings }): ReactElement {
  const form = useSaveForm<Draft, Body>({
    held: draftOf(of),
    read: (draft) => {
      const said = bodyOf(draft)
      return said.body === undefined ? { problem: said.problem ?? '' } : { body: said.body }
    },
    route: routes.platformSettings.update,
    rooms: ['platformSettings'],
    send: (client, body) => client.platformSettings.update(body),
    countsFrom: 'the next request, on every node',
  })
  const { draft, change } = fieldsOf(form)
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Workspaces">
        <Choice
          label="Who can create workspaces"
          of={[
            { id: 'anyone', label: 'Anyone' },
            { id: 'operators', label: 'Operators' },
          ]}
          at={draft.workspaceCreation}
          go={(workspaceCreation) => change({ workspaceCreation })}
        />
        <Select
          label="Plan for new workspaces"
          value={draft.defaultPlan}
          onChange={({ target }) => change({ defaultPlan: target.value })}
          hint="Default: Self-hosted if the creator’s current workspace is self-hosted, otherwise Free. If the creator has no workspace, the installation’s first workspace determines it."
        >
          <option value="">Default</option>
          {of.plans.map((plan) => (
            <option key={plan} value={plan}>
              {planText(plan)}
            </option>
          ))}
        </Select>
        <Field
          label="Support contact"
          maxLength={LIMITS.supportContactCharsMax}
          value={draft.supportContact}
          onChange={({ target }) => change({ supportContact: target.value })}
          hint="Optional. An email address, a URL or a sentence. Members of a suspended workspace see it next to the reason."
        />
      </Part>
      <Part
        title="Agent registration"
        text="Agents register their own accounts with a proof of work. One network can use at most a tenth of the daily registrations."
      >
        <div className="mb-3.5">
          <Check
            checked={draft.agentRegistration}
            onChange={({ target }) => change({ agentRegistration: target.checked })}
            label="Allow agents to register"
          />
        </div>
        <Field
          label="Registrations per day"
          inputMode="numeric"
          value={draft.perDay}
          onChange={({ target }) => change({ perDay: target.value })}
          hint="Days are in UTC. The proof of work gets harder as the daily limit fills."
        />
      </Part>
      <Part title="Terms" text="Agents accept this version when they register.">
        <Field
          label="Version"
          maxLength={50}
          value={draft.termsVersion}
          onChange={({ target }) => change({ termsVersion: target.value })}
        />
        <Field
          label="URL"
          type="url"
          value={draft.termsUrl}
          onChange={({ target }) => change({ termsUrl: target.value })}
          hint="Optional. Leave empty to publish no Terms."
        />
      </Part>
    </SaveForm>
  )
}
